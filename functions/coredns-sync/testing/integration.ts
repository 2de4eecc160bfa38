import jsonPatch from 'fast-json-patch';
import type { ConfigMap, Deployment } from '../../../lib/kube/model/resource.ts';
import type { KubeObject } from '../../../lib/kube/model/wire.ts';
import { planIntegration } from '../integration/plan.ts';
import type { DnsObjects, IntegrationOptions } from '../integration/types.ts';
import type { Host } from '../rule.ts';

export const options: IntegrationOptions = {
  configure: true,
  mode: 'auto',
  importPosition: 'first',
  nodeLocal: 'report',
  namespace: 'kube-system',
  rulesConfigMap: 'rules',
  rulesKey: 'dynamic.server',
  maxShards: 4,
  volumeName: 'sync-volume',
  mountPath: '/etc/coredns/custom/sync',
  targets: ['ingress.web.svc.cluster.local.'],
  clusterDomain: 'cluster.local',
  renderMode: 'auto',
};
export const line = 'import /etc/coredns/custom/sync/*.server';
export const hosts: readonly Host[] = [{ host: 'api.example.com', match: 'exact' }];

export function configMap(name: string, data: Record<string, string>): ConfigMap {
  return { metadata: { name, namespace: 'kube-system', resourceVersion: '1' }, data };
}

type PodSpec = NonNullable<NonNullable<Deployment['spec']>['template']['spec']>;

export function deployment(pod: Partial<PodSpec> = {}): Deployment {
  const containers = [{ name: 'coredns', image: 'registry.k8s.io/coredns/coredns:v1.11.1' }];
  return {
    metadata: { name: 'coredns', namespace: 'kube-system', generation: 3, resourceVersion: '1' },
    spec: { replicas: 2, selector: {}, template: { spec: { containers, ...pod } } },
    status: { observedGeneration: 3, replicas: 2, updatedReplicas: 2, availableReplicas: 2 },
  };
}

export const volumeMounts = [{ name: 'sync-volume', mountPath: '/etc/coredns/custom/sync', readOnly: true }];
const volumes = [{ name: 'sync-volume', configMap: { name: 'rules' } }];

export function mounted(): Deployment {
  return deployment({ containers: [{ name: 'coredns', volumeMounts }], volumes });
}

export function observe(corefile: string, changes: DnsObjects = {}): DnsObjects {
  return { corefile: configMap('coredns', { Corefile: corefile }), deployment: mounted(), ...changes };
}

/** Runs a patch as an API server would. */
export function patched<T extends KubeObject>(object: T, step: unknown): T {
  const { operations } = step as { operations: jsonPatch.Operation[] };
  return jsonPatch.applyPatch(structuredClone(object), operations, true).newDocument;
}

export function corefileAfter(
  observed: DnsObjects,
  changes: Partial<IntegrationOptions> = {},
  asked = hosts,
): string | undefined {
  const { steps } = planIntegration(observed, { ...options, ...changes }, asked);
  const found = steps.find(({ component }) => component === 'import_statement');
  return found === undefined || observed.corefile === undefined
    ? undefined
    : patched(observed.corefile, found.step).data?.['Corefile'];
}

export function conditionsOf(observed: DnsObjects, changes: Partial<IntegrationOptions> = {}): string[] {
  return planIntegration(observed, { ...options, ...changes }, hosts).conditions.map(({ type }) => type);
}
