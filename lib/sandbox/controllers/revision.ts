import type { Deployment, ReplicaSet } from '../../kube/model/resource.ts';
import { isEqual } from '../schema/value.ts';
import {
  ceilingOf,
  desiredAnnotation,
  maxAnnotation,
  replicasOf,
  type Rollout,
  rollingStep,
  wanted,
} from './rollout.ts';
import { contentHash, controllerReference, type PodTemplate } from './template.ts';

export const revisionAnnotation = 'deployment.kubernetes.io/revision';
const historyAnnotation = 'deployment.kubernetes.io/revision-history';
const hashLabel = 'pod-template-hash';

/** Annotations of the Deployment that its ReplicaSets do not inherit. */
const ownAnnotations = new Set([
  'kubectl.kubernetes.io/last-applied-configuration',
  revisionAnnotation,
  historyAnnotation,
  desiredAnnotation,
  maxAnnotation,
  'deprecated.deployment.rollback.to',
]);

export function revisionOf({ metadata }: ReplicaSet): number {
  return Number(metadata?.annotations?.[revisionAnnotation] ?? 0);
}

/** Whether the ReplicaSet makes the pods that the Deployment describes now. */
export function isSameTemplate({ spec }: Deployment, replicaSet: ReplicaSet): boolean {
  return isEqual(withoutHash(spec?.template), withoutHash(replicaSet.spec?.template));
}

function withoutHash(template: PodTemplate | undefined): PodTemplate {
  const { [hashLabel]: _hash, ...labels } = template?.metadata?.labels ?? {};
  const { labels: _labels, ...metadata } = template?.metadata ?? {};
  return { ...template, metadata: { ...metadata, ...(Object.keys(labels).length > 0 && { labels }) } };
}

/** The ReplicaSet of the present template as it should be: a new one, or the one that exists with its annotations. */
export function freshReplicaSet({ deployment, fresh, old }: Rollout): ReplicaSet {
  const highest = Math.max(0, ...old.map(revisionOf));
  const made = fresh ?? newReplicaSet(deployment, old);
  const annotations = {
    ...made.metadata?.annotations,
    ...inherited(deployment),
    ...revisionAnnotations(made, highest),
    ...scaleAnnotations(deployment),
  };
  return { ...made, metadata: { ...made.metadata, annotations } };
}

/** A ReplicaSet that comes back by an undo gets the next revision and remembers the ones it had. */
function revisionAnnotations(replicaSet: ReplicaSet, highest: number): Record<string, string> {
  const present = revisionOf(replicaSet);
  if (present > highest) {
    return { [revisionAnnotation]: String(present) };
  }
  const history = replicaSet.metadata?.annotations?.[historyAnnotation];
  const past = [...(history ? [history] : []), ...(present > 0 ? [String(present)] : [])];
  return {
    [revisionAnnotation]: String(highest + 1),
    ...(past.length > 0 && { [historyAnnotation]: past.join(',') }),
  };
}

function inherited({ metadata }: Deployment): Record<string, string> {
  return Object.fromEntries(Object.entries(metadata?.annotations ?? {}).filter(([name]) => !ownAnnotations.has(name)));
}

function scaleAnnotations(deployment: Deployment): Record<string, string> {
  return { [desiredAnnotation]: String(wanted(deployment)), [maxAnnotation]: String(ceilingOf(deployment)) };
}

function newReplicaSet(deployment: Deployment, old: readonly ReplicaSet[]): ReplicaSet {
  const { name = '', namespace = '' } = deployment.metadata ?? {};
  const { template, selector, minReadySeconds } = deployment.spec ?? {};
  const hash = freeHash(name, template, old);
  const labels = { ...template?.metadata?.labels, [hashLabel]: hash };
  const made: ReplicaSet = {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: {
      name: `${name}-${hash}`,
      namespace,
      labels,
      ownerReferences: [controllerReference(deployment, 'apps/v1', 'Deployment')],
    },
    spec: {
      replicas: 0,
      selector: { ...selector, matchLabels: { ...selector?.matchLabels, [hashLabel]: hash } },
      template: { ...template, metadata: { ...template?.metadata, labels } },
      ...(minReadySeconds !== undefined && { minReadySeconds }),
    },
  };
  return withReplicas(made, firstReplicas(deployment, made, old));
}

/** A hash whose ReplicaSet is taken by another template gives way to the next. */
function freeHash(name: string, template: unknown, old: readonly ReplicaSet[]): string {
  for (let collisions = 0; ; collisions += 1) {
    const hash = contentHash(template, collisions);
    if (!old.some(({ metadata }) => metadata?.name === `${name}-${hash}`)) {
      return hash;
    }
  }
}

/** A rolling update starts with as many pods as fit beside the old ones; Recreate comes here when none are left. */
function firstReplicas(deployment: Deployment, made: ReplicaSet, old: readonly ReplicaSet[]): number {
  if (deployment.spec?.strategy?.type === 'Recreate') {
    return wanted(deployment);
  }
  return rollingStep({ deployment, fresh: made, old }).get(made.metadata?.name ?? '') ?? 0;
}

function withReplicas(replicaSet: ReplicaSet, replicas: number): ReplicaSet {
  return replicaSet.spec === undefined ? replicaSet : { ...replicaSet, spec: { ...replicaSet.spec, replicas } };
}

/** The ReplicaSet with another number of pods; `undefined` when nothing about it changes. */
export function withScale(
  deployment: Deployment,
  replicaSet: ReplicaSet,
  replicas = replicasOf(replicaSet),
): ReplicaSet | undefined {
  const annotations = { ...replicaSet.metadata?.annotations, ...scaleAnnotations(deployment) };
  const isAnnotated = replicasOf(replicaSet) === 0 || isEqual(annotations, replicaSet.metadata?.annotations);
  if (replicas === replicasOf(replicaSet) && isAnnotated) {
    return undefined;
  }
  return withReplicas({ ...replicaSet, metadata: { ...replicaSet.metadata, annotations } }, replicas);
}
