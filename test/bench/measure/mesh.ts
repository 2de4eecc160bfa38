import jsonPatch from 'fast-json-patch';
import { injection, type Proxy } from '../../../functions/istio-rollout/sandbox/inject.ts';
import {
  deployments,
  namespaces,
  pods,
  replicaSets,
  type Deployment,
  type Pod,
  type ReplicaSet,
} from '../../../lib/kube/model/resource.ts';
import type { KubeObject, OwnerReference } from '../../../lib/kube/model/wire.ts';
import type { InternalApi } from '../../../lib/sandbox/model/internal.ts';
import { inParallel } from '../../../lib/base/in-parallel.ts';

export interface MeshSize {
  readonly namespaces: number;
  readonly workloads: number;
  readonly podsEach: number;
}

/** Without controllers nobody else makes them, and no pod is made without one. */
const serviceAccounts = { group: '', plural: 'serviceaccounts' };

/** What makes objects, in the sandbox or elsewhere. */
export type Maker = Pick<InternalApi, 'create' | 'update'>;

/** How many workloads are made at once. */
const width = 8;

/**
 * Deployments whose pods carry the proxy, rolled out and at rest. No two templates are the same. If no proxy is named, the
 * pods are made without one, for the injector of the place to see to that.
 */
export async function fillMesh(api: Maker, size: MeshSize, proxy?: Proxy): Promise<void> {
  for (let index = 0; index < size.namespaces; index += 1) {
    const name = `team-${index}`;
    await api.create(namespaces, { metadata: { name, labels: { 'istio-injection': 'enabled' } } });
    await api.create(serviceAccounts, { metadata: { name: 'default', namespace: name } });
  }
  const places = Array.from({ length: size.workloads }, (_, index) => ({
    name: `web-${index}`,
    namespace: `team-${index % size.namespaces}`,
  }));
  await inParallel(width, places, (place) => fillWorkload(api, place, size.podsEach, proxy));
}

interface Place {
  readonly name: string;
  readonly namespace: string;
}

async function fillWorkload(api: Maker, place: Place, podsEach: number, proxy?: Proxy): Promise<void> {
  const template = templateOf(place.name);
  const selector = { matchLabels: { app: place.name } };
  const revision = { 'deployment.kubernetes.io/revision': '1' };
  const workload: Deployment = {
    metadata: { ...place, annotations: revision },
    spec: { replicas: podsEach, selector, template },
  };
  const made = await api.create(deployments, workload);
  const counts = {
    replicas: podsEach,
    updatedReplicas: podsEach,
    readyReplicas: podsEach,
    availableReplicas: podsEach,
  };
  const rolledOut: Deployment = { ...made, status: { observedGeneration: made.metadata?.generation ?? 1, ...counts } };
  await api.update(deployments, rolledOut, { subresource: 'status' });
  const set = await fillReplicaSet(api, made, template);
  const pod = podOf(template, proxy);
  for (let index = 0; index < podsEach; index += 1) {
    await api.create(pods, {
      ...pod,
      metadata: {
        ...pod.metadata,
        name: `${set.metadata?.name ?? ''}-${index}`,
        namespace: place.namespace,
        ownerReferences: [ownedBy(set, 'ReplicaSet')],
      },
    });
  }
}

async function fillReplicaSet(api: Maker, owner: Deployment, template: Template): Promise<KubeObject> {
  const { name = '', namespace = '' } = owner.metadata ?? {};
  const labels = { ...template.metadata.labels, 'pod-template-hash': hash };
  const set: ReplicaSet = {
    metadata: {
      name: `${name}-${hash}`,
      namespace,
      labels,
      annotations: { 'deployment.kubernetes.io/revision': '1' },
      ownerReferences: [ownedBy(owner, 'Deployment')],
    },
    spec: { replicas: 0, selector: { matchLabels: labels }, template: { ...template, metadata: { labels } } },
  };
  return api.create(replicaSets, set);
}

const hash = '5d9c7f6b48';

type Template = ReturnType<typeof templateOf>;

/** About as large as templates are: a few environment variables, probes and limits. */
function templateOf(name: string) {
  const probe = { httpGet: { path: '/healthz', port: 8080 }, periodSeconds: 10 };
  return {
    metadata: { labels: { app: name, version: 'v1' }, annotations: { 'prometheus.io/scrape': 'true' } },
    spec: {
      containers: [
        {
          name: 'app',
          image: `registry.example.com/${name}:1.0.0`,
          ports: [{ containerPort: 8080 }],
          env: Array.from({ length: 10 }, (_, index) => ({ name: `SETTING_${index}`, value: `value of ${index}` })),
          readinessProbe: probe,
          livenessProbe: probe,
          resources: { requests: { cpu: '100m', memory: '128Mi' }, limits: { memory: '256Mi' } },
        },
      ],
    },
  };
}

function podOf({ metadata, spec }: Template, proxy: Proxy | undefined): Pod {
  const pod: Pod = {
    metadata: { labels: { ...metadata.labels, 'pod-template-hash': hash }, annotations: metadata.annotations },
    spec,
  };
  return proxy === undefined ? pod : jsonPatch.applyPatch(structuredClone(pod), injection(pod, proxy)).newDocument;
}

function ownedBy({ metadata }: KubeObject, kind: string): OwnerReference {
  const { name = '', uid = '' } = metadata ?? {};
  return { apiVersion: 'apps/v1', kind, name, uid, controller: true };
}
