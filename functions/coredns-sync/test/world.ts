import { kubeconfigAccess } from '../../../lib/kube/access.ts';
import type { Call } from '../../../lib/kube/client.ts';
import {
  configMaps,
  deployments,
  ingresses,
  namespaces,
  type ConfigMap,
  type Ingress,
} from '../../../lib/kube/model/resource.ts';
import type { KubeObject } from '../../../lib/kube/model/wire.ts';
import type { Running } from '../../../lib/runtime/main.ts';
import { startSandbox, type Sandbox, type SandboxOptions } from '../../../lib/sandbox/sandbox.ts';
import { until as wait } from '../../../lib/source/testing/until.ts';
import corednsSync from '../index.ts';
import { coreConfigMap, coreDeployment, corefile } from '../sandbox/coredns.ts';
import { binaryEvent, send, startApp } from '../../../test/support/http.ts';

export const rulesName = 'coredns-ingress-sync-rewrite-rules';
export const target = 'ingress-nginx-controller.ingress-nginx.svc.cluster.local.';
const own = 'kube-reflex';

/** A cluster with CoreDNS as kubeadm installs it, and the function. */
export interface World extends AsyncDisposable {
  readonly sandbox: Sandbox;
  readonly calls: Call[];
  readonly app: Running;
  /** Starts a further process of the function. */
  readonly another: (environment?: Environment, options?: { readonly now?: () => Date }) => Promise<Running>;
  readonly ingress: (name: string, hosts: readonly string[], options?: IngressOptions) => Promise<KubeObject>;
  readonly change: (name: string, edit: (ingress: Ingress) => void, namespace?: string) => Promise<KubeObject>;
  readonly remove: (name: string, namespace?: string) => Promise<void>;
  /** Sends what a source would about an Ingress, and answers with the status. */
  readonly tell: (change: 'add' | 'update' | 'delete', name: string, options?: Told) => Promise<number>;
  readonly tick: () => Promise<number>;
  readonly rules: (index?: number) => ConfigMap | undefined;
  /** The lines of all rules, without comments. */
  readonly lines: () => readonly string[];
  readonly state: (name?: string) => ConfigMap | undefined;
  readonly conditions: () => Record<string, string>;
  /** What the controllers do when every pod of CoreDNS runs with the newest template, and the events about all that. */
  readonly rollOut: () => Promise<void>;
  /** Calls that changed something since the last look. */
  readonly writes: () => readonly string[];
}

export type Environment = Readonly<Record<string, string>>;

export interface IngressOptions {
  readonly namespace?: string;
  readonly className?: string | undefined;
  readonly annotations?: Readonly<Record<string, string>>;
}

interface Told {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly namespace?: string;
  readonly to?: Running;
}

export async function openWorld(environment: Environment = {}, options: SandboxOptions = {}): Promise<World> {
  const sandbox = await startSandbox({ controllers: false, ...options });
  for (const name of [own, 'shop', 'a', 'b', 'prod']) {
    await sandbox.api.create(namespaces, { metadata: { name } });
  }
  await sandbox.api.create(configMaps, coreConfigMap(corefile));
  await sandbox.api.create(deployments, coreDeployment);
  const calls: Call[] = [];
  const running: Running[] = [];

  async function another(more: Environment = {}, { now }: { readonly now?: () => Date } = {}): Promise<Running> {
    const app = await startApp(corednsSync, {
      access: kubeconfigAccess(JSON.stringify(sandbox.kubeconfig)),
      environment: { POD_NAMESPACE: own, ...environment, ...more },
      observe: (call) => calls.push(call),
      ...(now === undefined ? {} : { now }),
    });
    running.push(app);
    return app;
  }

  const app = await another();
  let counted = 0;

  function rules(index = 0): ConfigMap | undefined {
    const name = index === 0 ? rulesName : `${rulesName}-${index}`;
    return sandbox.api.get(configMaps, name, 'kube-system');
  }

  function state(name = 'coredns-sync-state'): ConfigMap | undefined {
    return sandbox.api.get(configMaps, name, own);
  }

  async function tell(change: 'add' | 'update' | 'delete', name: string, told: Told = {}): Promise<number> {
    const { kind = 'Ingress', apiVersion = 'networking.k8s.io/v1', namespace = 'shop', to = app } = told;
    const type = `dev.knative.apiserver.ref.${change}`;
    return (await send(to.url, binaryEvent({ type, kind, apiVersion, namespace, name }))).status;
  }

  return {
    sandbox,
    calls,
    app,
    another,
    tell,
    rules,
    state,
    ingress: (name, hosts, options = {}) => sandbox.api.create(ingresses, ingressOf(name, hosts, options)),
    change: async (name, edit, namespace = 'shop') => {
      const current = structuredClone(sandbox.api.get(ingresses, name, namespace)) as Ingress;
      edit(current);
      return sandbox.api.update(ingresses, current);
    },
    remove: (name, namespace = 'shop') => sandbox.api.remove(ingresses, { name, namespace }),
    rollOut: async () => {
      const object = structuredClone(sandbox.api.get(deployments, 'coredns', 'kube-system'));
      const observedGeneration = object?.metadata?.generation ?? 1;
      const counts = { replicas: 2, updatedReplicas: 2, readyReplicas: 2, availableReplicas: 2 };
      const status = { observedGeneration, ...counts };
      await sandbox.api.update(deployments, { ...object, status } as KubeObject, { subresource: 'status' });
      await tell('update', 'coredns', { kind: 'Deployment', apiVersion: 'apps/v1', namespace: 'kube-system' });
      await tell('update', 'coredns', { kind: 'ConfigMap', apiVersion: 'v1', namespace: 'kube-system' });
    },
    tick: async () => (await send(app.url, binaryEvent({ type: 'dev.knative.sources.ping' }))).status,
    lines: () =>
      [0, ...Array.from({ length: 31 }, (_, index) => index + 1)]
        .flatMap((index) =>
          (rules(index)?.data?.[index === 0 ? 'dynamic.server' : `dynamic-${index}.server`] ?? '').split('\n'),
        )
        .filter((line) => line !== '' && !line.startsWith('#')),
    conditions: () => JSON.parse(state()?.data?.['conditions'] ?? '{}') as Record<string, string>,
    writes: () => {
      const since = calls.slice(counted);
      counted = calls.length;
      return since
        .filter(({ verb }) => verb !== 'get' && verb !== 'list')
        .map(({ verb, resource }) => `${verb} ${resource}`);
    },
    [Symbol.asyncDispose]: async () => {
      await Promise.all(running.map((each) => each.close()));
      await sandbox.close();
    },
  };
}

/** Somebody else changes the rules. */
export async function editRules({ api }: Sandbox, change: (rules: ConfigMap) => void): Promise<void> {
  const rules = structuredClone(api.get(configMaps, rulesName, 'kube-system')) as ConfigMap;
  change(rules);
  await api.update(configMaps, rules);
}

/** Waits for something that follows by itself. */
export function until(holds: () => boolean): Promise<void> {
  return wait(holds, String(holds));
}

/** The line that leads a host to the target of the default settings. */
export function lineOf(host: string, to = target): string {
  return `rewrite name exact ${host} ${to}`;
}

export function ingressOf(name: string, hosts: readonly string[], options: IngressOptions = {}): Ingress {
  const { namespace = 'shop', annotations = {} } = options;
  const className = 'className' in options ? options.className : 'nginx';
  const backend = { service: { name: 'web', port: { number: 80 } } };
  return {
    metadata: { name, namespace, annotations },
    spec: {
      ...(className === undefined ? {} : { ingressClassName: className }),
      rules: hosts.map((host) => ({ host, http: { paths: [{ path: '/', pathType: 'Prefix', backend }] } })),
    },
  };
}
