import type { PartName } from './parts.ts';
import type { Probe, Service } from './ready.ts';
import { adminToken } from './site.ts';

/** Where a run's programs live and speak. */
export interface Site {
  readonly directory: string;
  /** First port of the run's block. */
  readonly base: number;
  /** Path of a kubeconfig of the cluster's admin. */
  readonly kubeconfig: string;
  readonly binary: (name: PartName) => string;
}

/** Offsets into the run's block of ports. */
export const portOf = { etcd: 0, peer: 1, apiserver: 2, controllers: 3, scheduler: 4, kwok: 5 } as const;

/** Client-side throttling would make every suite wait for itself. */
const unthrottled = ['--leader-elect=false', '--kube-api-qps', '500', '--kube-api-burst', '1000'];

/** How each part of the control plane is started. */
export const controlPlane = {
  etcd: (site, flags = []) => {
    const port = site.base + portOf.etcd;
    const client = `http://127.0.0.1:${port}`;
    const args = [
      ...['--data-dir', `${site.directory}/etcd`],
      ...['--listen-client-urls', client, '--advertise-client-urls', client],
      ...['--listen-peer-urls', `http://127.0.0.1:${site.base + portOf.peer}`],
      ...['--unsafe-no-fsync', '--log-level', 'error'],
    ];
    return service(site, 'etcd', {
      args: [...args, ...flags],
      port,
      probe: { url: `${client}/health`, body: /"true"/ },
    });
  },
  'kube-apiserver': (site, flags = []) => {
    const port = site.base + portOf.apiserver;
    const { directory } = site;
    const args = [
      ...['--etcd-servers', `http://127.0.0.1:${site.base + portOf.etcd}`],
      ...['--secure-port', String(port), '--bind-address', '127.0.0.1', '--cert-dir', `${directory}/certs`],
      ...['--token-auth-file', `${directory}/tokens.csv`, '--authorization-mode', 'RBAC'],
      ...['--service-account-issuer', 'https://kubernetes.default.svc.cluster.local'],
      ...['--service-account-jwks-uri', `https://127.0.0.1:${port}/openid/v1/jwks`],
      ...['--service-account-key-file', `${directory}/sa.pub`],
      ...['--service-account-signing-key-file', `${directory}/sa.key`],
      ...['--service-cluster-ip-range', '10.96.0.0/16', '--endpoint-reconciler-type', 'none', '--allow-privileged'],
      ...['--audit-policy-file', `${directory}/audit-policy.json`, '--audit-log-path', `${directory}/audit.log`],
    ];
    return service(site, 'kube-apiserver', { args: [...args, ...flags], port, probe: secure(port, 'readyz') });
  },
  'kube-controller-manager': (site, flags = []) => {
    const port = site.base + portOf.controllers;
    const args = [
      ...['--kubeconfig', site.kubeconfig, '--service-account-private-key-file', `${site.directory}/sa.key`],
      ...['--root-ca-file', `${site.directory}/certs/apiserver.crt`, '--use-service-account-credentials'],
      // KWOK sends no heartbeats; without this all pods would turn unready for a moment every minute.
      ...['--node-monitor-grace-period', '24h'],
      ...['--bind-address', '127.0.0.1', '--secure-port', String(port), ...unthrottled],
    ];
    return service(site, 'kube-controller-manager', {
      args: [...args, ...flags],
      port,
      probe: secure(port, 'healthz'),
    });
  },
  'kube-scheduler': (site, flags = []) => {
    const port = site.base + portOf.scheduler;
    const args = ['--kubeconfig', site.kubeconfig, '--bind-address', '127.0.0.1', '--secure-port', String(port)];
    const all = [...args, ...unthrottled, ...flags];
    return service(site, 'kube-scheduler', { args: all, port, probe: secure(port, 'readyz') });
  },
  kwok: (site, flags = []) => {
    const port = site.base + portOf.kwok;
    const args = [
      ...['--kubeconfig', site.kubeconfig, '--config', `${site.directory}/stages.yaml`],
      ...['--manage-all-nodes=true', '--node-lease-duration-seconds=0', '--server-address', `127.0.0.1:${port}`],
    ];
    return service(site, 'kwok', {
      args: [...args, ...flags],
      port,
      probe: { url: `http://127.0.0.1:${port}/healthz`, body: /^ok$/ },
    });
  },
} satisfies Partial<Record<PartName, Starter>>;

export type ControlPlanePart = keyof typeof controlPlane;

type Starter = (site: Site, flags?: readonly string[]) => Service;

interface Way extends Pick<Service, 'port' | 'probe'> {
  readonly args: readonly string[];
}

function service({ binary }: Site, name: PartName, { args, ...rest }: Way): Service {
  return { command: { name, file: binary(name), args }, ...rest };
}

function secure(port: number, path: string): Probe {
  const headers = { authorization: `Bearer ${adminToken}` };
  return { url: `https://127.0.0.1:${port}/${path}`, headers, body: /^ok$/ };
}
