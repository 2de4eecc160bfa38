import type { ConfigMap, Deployment, Service } from '../../../lib/kube/model/resource.ts';

const place = { namespace: 'kube-system', name: 'coredns' };
const labels = { 'k8s-app': 'kube-dns' };

/** As kubeadm installs it. */
export const corefile = `.:53 {
    errors
    health {
       lameduck 5s
    }
    ready
    kubernetes cluster.local in-addr.arpa ip6.arpa {
       pods insecure
       fallthrough in-addr.arpa ip6.arpa
       ttl 30
    }
    prometheus :9153
    forward . /etc/resolv.conf {
       max_concurrent 1000
    }
    cache 30
    loop
    reload
    loadbalance
}
`;

export function coreConfigMap(text: string): ConfigMap {
  return { metadata: place, data: { Corefile: text } };
}

export const coreDeployment: Deployment = {
  metadata: { ...place, labels },
  spec: {
    replicas: 2,
    selector: { matchLabels: labels },
    template: {
      metadata: { labels },
      spec: {
        containers: [
          {
            name: 'coredns',
            image: 'registry.k8s.io/coredns/coredns:v1.12.1',
            args: ['-conf', '/etc/coredns/Corefile'],
            volumeMounts: [{ name: 'config-volume', mountPath: '/etc/coredns', readOnly: true }],
          },
        ],
        volumes: [
          { name: 'config-volume', configMap: { name: 'coredns', items: [{ key: 'Corefile', path: 'Corefile' }] } },
        ],
      },
    },
  },
};

/** What the hosts of the samples lead to. */
export const controller: Service & { readonly spec: { readonly clusterIP: string } } = {
  metadata: { namespace: 'ingress-nginx', name: 'ingress-nginx-controller' },
  spec: { clusterIP: '10.96.0.80', clusterIPs: ['10.96.0.80'], ports: [{ name: 'http', port: 80 }] },
};
