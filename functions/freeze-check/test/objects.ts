import type { CronJob } from '../../../lib/kube/model/resource.ts';
import type { KubeObject } from '../../../lib/kube/model/wire.ts';
import type { Application } from '../hold/application.ts';
import type {
  Behavior,
  ChangeFreeze,
  ChangeFreezeSpec,
  FreezeException,
  MaintenanceWindow,
  MaintenanceWindowSpec,
} from '../policy.ts';

export const suspending: Behavior = { suspendCronJobs: true };
export const pausing: Behavior = {
  gitops: { enabled: true, providers: ['argocd', 'flux'], argocd: {}, flux: {} },
};

/** A freeze of everything in namespaces labelled `env=prod`. */
export function freeze(
  name: string,
  [startTime, endTime]: readonly [string, string],
  spec: Partial<ChangeFreezeSpec> = {},
): ChangeFreeze {
  return {
    metadata: { name },
    spec: {
      startTime,
      endTime,
      target: { kinds: ['Deployment', 'CronJob'], namespaceSelector: { matchLabels: { env: 'prod' } } },
      rules: { deny: ['ROLL_OUT'] },
      ...spec,
    },
  };
}

/** Windows that are open from 22:00 to 02:00 UTC. */
export function nightly(name: string, spec: Partial<MaintenanceWindowSpec> = {}): MaintenanceWindow {
  return {
    metadata: { name },
    spec: {
      timezone: 'UTC',
      mode: 'DenyOutsideWindows',
      windows: [{ name: 'night', schedule: '0 22 * * *', duration: '4h' }],
      target: { kinds: ['Deployment', 'CronJob'], namespaceSelector: { matchLabels: { env: 'prod' } } },
      rules: { deny: ['ROLL_OUT'] },
      ...spec,
    },
  };
}

export function exception(name: string, [activeFrom, activeTo]: readonly [string, string]): FreezeException {
  return {
    metadata: { name },
    spec: {
      activeFrom,
      activeTo,
      target: { kinds: ['Deployment'] },
      allow: ['ROLL_OUT'],
      reason: 'hotfix',
      approvedBy: 'ops',
    },
  };
}

export function cronJob(name: string, suspend?: boolean, namespace = 'prod'): CronJob {
  const containers = [{ name: 'main', image: 'example.com/report' }];
  return {
    metadata: { name, namespace, labels: { app: name } },
    spec: {
      schedule: '0 * * * *',
      ...(suspend === undefined ? {} : { suspend }),
      jobTemplate: { spec: { template: { spec: { restartPolicy: 'Never', containers } } } },
    },
  };
}

export function application(name: string, automated?: Readonly<Record<string, unknown>>): Application {
  const source = { repoURL: 'https://git.example.com/shop', path: '.', targetRevision: 'main' };
  const spec = {
    project: 'default',
    source,
    destination: { server: 'https://kubernetes.default.svc', namespace: 'shop' },
    syncPolicy: { syncOptions: ['CreateNamespace=true'], ...(automated === undefined ? {} : { automated }) },
  };
  return { metadata: { name, namespace: 'argocd' }, spec };
}

export function namespaceNamed(name: string, labels: Readonly<Record<string, string>>): KubeObject {
  return { metadata: { name, labels: { ...labels } } };
}
