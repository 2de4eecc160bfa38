import type { Command } from './processes.ts';

export interface Site {
  readonly directory: string;
  /** First port of the run's block. */
  readonly base: number;
  readonly kubeconfig: string;
  readonly binary: (name: string) => string;
}

/** Offsets into the run's block of ports. */
export const portOf = { etcd: 0, peer: 1, apiserver: 2, controllers: 3, scheduler: 4, kwok: 5 } as const;

export function etcd({ directory, base, binary }: Site): Command {
  const client = `http://127.0.0.1:${base + portOf.etcd}`;
  return {
    name: 'etcd',
    file: binary('etcd'),
    args: [
      ...['--data-dir', `${directory}/etcd`],
      ...['--listen-client-urls', client, '--advertise-client-urls', client],
      ...['--listen-peer-urls', `http://127.0.0.1:${base + portOf.peer}`],
      ...['--unsafe-no-fsync', '--log-level', 'error'],
    ],
  };
}

export function apiServer({ directory, base, binary }: Site): Command {
  const port = String(base + portOf.apiserver);
  return {
    name: 'kube-apiserver',
    file: binary('kube-apiserver'),
    args: [
      ...['--etcd-servers', `http://127.0.0.1:${base + portOf.etcd}`],
      ...['--secure-port', port, '--bind-address', '127.0.0.1', '--cert-dir', `${directory}/certs`],
      ...['--token-auth-file', `${directory}/tokens.csv`, '--authorization-mode', 'RBAC'],
      ...['--service-account-issuer', 'https://kubernetes.default.svc.cluster.local'],
      ...['--service-account-jwks-uri', `https://127.0.0.1:${port}/openid/v1/jwks`],
      ...['--service-account-key-file', `${directory}/sa.pub`],
      ...['--service-account-signing-key-file', `${directory}/sa.key`],
      ...['--service-cluster-ip-range', '10.96.0.0/16', '--endpoint-reconciler-type', 'none', '--allow-privileged'],
      ...['--audit-policy-file', `${directory}/audit-policy.json`, '--audit-log-path', `${directory}/audit.log`],
      ...['--audit-log-mode', 'blocking'],
    ],
  };
}

/** Client-side throttling would make every suite wait for itself. */
const unthrottled = ['--leader-elect=false', '--kube-api-qps', '500', '--kube-api-burst', '1000'];

export function controllerManager({ directory, base, kubeconfig, binary }: Site): Command {
  return {
    name: 'kube-controller-manager',
    file: binary('kube-controller-manager'),
    args: [
      ...['--kubeconfig', kubeconfig, '--service-account-private-key-file', `${directory}/sa.key`],
      ...['--root-ca-file', `${directory}/certs/apiserver.crt`, '--use-service-account-credentials'],
      ...['--bind-address', '127.0.0.1', '--secure-port', String(base + portOf.controllers)],
      ...unthrottled,
    ],
  };
}

export function scheduler({ base, kubeconfig, binary }: Site): Command {
  return {
    name: 'kube-scheduler',
    file: binary('kube-scheduler'),
    args: [
      ...['--kubeconfig', kubeconfig, '--bind-address', '127.0.0.1', '--secure-port', String(base + portOf.scheduler)],
      ...unthrottled,
    ],
  };
}
