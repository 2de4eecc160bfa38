import {
  configMaps,
  customResourceDefinitions,
  daemonSets,
  mutatingWebhooks,
  namespaces,
  pods,
  replicaSets,
  replicationControllers,
  statefulSets,
  deployments,
  type ReplicationController,
} from '../../../lib/kube/model/resource.ts';
import type { KubeObject, OwnerReference } from '../../../lib/kube/model/wire.ts';
import type { KindRef } from '../../../lib/sandbox/model/internal.ts';
import type { Scenario, Stage } from '../../../test/contract/rights/stage.ts';
import { injectorConfigMap } from '../sandbox/istio.ts';
import { controllerRevisions, rollouts, type Rollout } from '../scan/kinds.ts';
import { until, workloadOf, type Shape } from './objects.ts';
import { rolloutDefinition } from './real/rollouts.ts';

const namespace = 'shop';
const atOnce = { MAX_IN_FLIGHT: '20', MAX_IN_FLIGHT_PER_NAMESPACE: '20', ISTIOD_CONFIG_READ_DELAY: '0s' };

/** An upgrade of the control plane with a workload of each kind, for every way to probe and to restart. */
export const scenario: Scenario = {
  runs: [
    {
      what: 'every feature',
      settings: { ...atOnce, ON_DELETE_ACTION: 'evict', UNMANAGED_ACTION: 'evict', PROBE_MODE: 'dryRun' },
      play: upgradeEverything,
    },
    { what: 'a dry run', settings: { ...atOnce, DRY_RUN: 'true' }, play: upgradeEverything },
  ],
};

async function upgradeEverything(stage: Stage): Promise<void> {
  await fill(stage);
  await stage.tick();
  stage.turn(3600);
  const values = injectorConfigMap({ revision: 'default', tag: '1.29.0' });
  const { api } = stage.sandbox;
  const there = api.get(configMaps, 'istio-sidecar-injector', 'istio-system');
  await api.update(configMaps, { ...there, data: values.data } as KubeObject);
  await stage.notify({ apiVersion: 'v1', kind: 'ConfigMap', ...there });
  await stage.notify({
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'MutatingWebhookConfiguration',
    ...api.get(mutatingWebhooks, 'istio-sidecar-injector'),
  });
  await stage.notify({ apiVersion: 'v1', kind: 'Namespace', ...api.get(namespaces, namespace) });
  for (let count = 0; count < 4; count += 1) {
    stage.turn(15);
    await stage.tick();
  }
}

/** One workload of each kind that can be restarted, and what hangs on a ControllerRevision. */
async function fill(stage: Stage): Promise<void> {
  const { api } = stage.sandbox;
  await api.create(namespaces, { metadata: { name: namespace, labels: { 'istio-injection': 'enabled' } } });
  await until('the namespace has an account', () => api.get(accounts, 'default', namespace) !== undefined);
  await api.create(customResourceDefinitions, rolloutDefinition);
  await until('the kind is served', () => api.kinds().some(({ plural }) => plural === 'rollouts'));
  await run(stage, deployments, 'web');
  await run(stage, statefulSets, 'db');
  await run(stage, statefulSets, 'held', { spec: { updateStrategy: { type: 'OnDelete' } } });
  await run(stage, daemonSets, 'agent');
  await api.create(replicaSets, workloadOf('bare', {}));
  const canary = (await api.create(rollouts, workloadOf('canary', {}))) as Rollout;
  const healthy: Rollout = { ...canary, status: { phase: 'Healthy', observedGeneration: '1' } };
  await api.update(rollouts, healthy, { subresource: 'status' });
  const old = await addController(stage);
  const stray = await api.create(controllerRevisions, {
    metadata: { name: 'stray', namespace },
    revision: 1,
  } as object);
  await addPod(stage, 'canary', { apiVersion: 'argoproj.io/v1alpha1', kind: 'Rollout', owner: canary });
  await addPod(stage, 'old', { apiVersion: 'v1', kind: 'ReplicationController', owner: old });
  await addPod(stage, 'stray', { apiVersion: 'apps/v1', kind: 'ControllerRevision', owner: stray });
}

const accounts: KindRef = { group: '', plural: 'serviceaccounts' };

/** A workload whose pods are up. */
async function run({ sandbox: { api } }: Stage, kind: KindRef, name: string, shape: Shape = {}): Promise<void> {
  await api.create(kind, workloadOf(name, shape, kind === daemonSets));
  await until(`${name} is up`, () => {
    const { status = {} } = api.get(kind, name, namespace) as { readonly status?: Readonly<Record<string, number>> };
    const { availableReplicas, numberAvailable, desiredNumberScheduled = 1 } = status;
    return (availableReplicas ?? numberAvailable ?? 0) >= desiredNumberScheduled;
  });
}

async function addController({ sandbox: { api } }: Stage): Promise<KubeObject> {
  const { spec, ...rest } = workloadOf('old', {});
  const object = { ...rest, spec: { ...spec, selector: { app: 'old' } } };
  const made: ReplicationController = await api.create(replicationControllers, object);
  const ready: ReplicationController = { ...made, status: { replicas: 1, availableReplicas: 1 } };
  return api.update(replicationControllers, ready, { subresource: 'status' });
}

interface Owned extends Pick<OwnerReference, 'apiVersion' | 'kind'> {
  readonly owner: KubeObject;
}

async function addPod({ sandbox: { api } }: Stage, name: string, { owner, ...kind }: Owned): Promise<void> {
  const reference = { ...kind, name: owner.metadata?.name ?? '', uid: owner.metadata?.uid ?? '', controller: true };
  const metadata = { name, namespace, labels: { app: name }, ownerReferences: [reference] };
  const object = { metadata, spec: { containers: [{ name: 'web', image: 'web:1' }] } };
  await api.create(pods, object);
}
