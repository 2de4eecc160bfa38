import type { KubeObject, Metadata, Status } from '../../kube/model/wire.ts';
import type { Cluster } from './cluster.ts';
import { timestamp } from '../model/clock.ts';
import type { PropagationPolicy, RemoveOptions } from '../model/internal.ts';
import { type Kind, resourceName } from '../model/kinds.ts';
import { hasNamespaceFinalizers } from './release.ts';
import { conflict } from '../model/status.ts';
import type { Stored } from '../store/stored.ts';
import { isEqual, objectAt, stringAt } from '../schema/value.ts';
import { attributes, liveObject, subjectOf, type Write } from './write.ts';

export interface Removal {
  /** False while finalizers or a grace period hold the object. */
  readonly isGone: boolean;
  readonly object: KubeObject;
}

const foreground = 'foregroundDeletion';
const orphan = 'orphan';
/** Keeps a CustomResourceDefinition until its objects are gone. */
export const cleanup = 'customresourcecleanup.apiextensions.k8s.io';

/** Kinds that answer a deletion with the object instead of a Status. */
const answerWithObject = new Set([
  'pods',
  'services',
  'serviceaccounts',
  'persistentvolumes',
  'persistentvolumeclaims',
  'podtemplates',
  'resourcequotas',
]);

/** Deletes an object, or marks it as being deleted while something holds it. */
export async function remove(cluster: Cluster, write: Write, options: RemoveOptions): Promise<Removal> {
  for (;;) {
    const live = liveObject(cluster, write);
    assertPreconditions(write, live.object, options);
    await cluster.admission.mutate(attributes(write, 'DELETE', { old: live.object }));
    await cluster.admission.validate(attributes(write, 'DELETE', { old: live.object }));
    if (cluster.store.get(write.kind, write.name ?? '', write.namespace) === live) {
      return commit(cluster, write, live, options);
    }
  }
}

/** The response body of a deletion. */
export function removalAnswer(kind: Kind, { isGone, object }: Removal): KubeObject | Status {
  if (!isGone || answerWithObject.has(resourceName(kind))) {
    return object;
  }
  const { name = '', uid = '' } = object.metadata ?? {};
  const { group, plural } = kind;
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Success',
    details: { name, ...(group !== '' && { group }), kind: plural, uid },
  };
}

function commit(cluster: Cluster, write: Write, live: Stored, options: RemoveOptions): Removal {
  const { kind, dryRun } = write;
  const next = markedForDeletion(cluster, write, live.object, options);
  if (next === undefined) {
    return { isGone: true, object: dryRun ? live.object : cluster.store.remove(kind, live).object };
  }
  if (dryRun || isEqual(next, live.object)) {
    return { isGone: false, object: next };
  }
  return { isGone: false, object: cluster.store.put(kind, next, live).object };
}

/** The object as it waits for its end; `undefined` when nothing holds it. */
function markedForDeletion(
  cluster: Cluster,
  write: Write,
  object: KubeObject,
  options: RemoveOptions,
): KubeObject | undefined {
  const { kind } = write;
  const grace = remainingGrace(kind, object, options);
  const finalizers = finalizersAfter(kind, object, policyOf(write, options));
  if (grace === 0 && finalizers.length === 0 && !hasNamespaceFinalizers(kind, object)) {
    return undefined;
  }
  const end = timestamp(new Date(cluster.clock.now().getTime() + grace * 1000));
  const metadata = { ...endingMetadata(object.metadata, end, grace), ...(finalizers.length > 0 && { finalizers }) };
  return resourceName(kind) === 'namespaces' ? terminating(object, metadata) : { ...object, metadata };
}

function endingMetadata({ finalizers: _finalizers, ...metadata }: Metadata = {}, end: string, grace: number): Metadata {
  const { deletionTimestamp, deletionGracePeriodSeconds, generation } = metadata;
  const isFirst = deletionTimestamp === undefined;
  return {
    ...metadata,
    deletionTimestamp: isFirst || grace !== deletionGracePeriodSeconds ? end : deletionTimestamp,
    deletionGracePeriodSeconds: grace,
    ...(isFirst && generation !== undefined && { generation: generation + 1 }),
  };
}

/** A namespace has no grace period; its phase shows that it is terminating. */
function terminating(namespace: KubeObject, ending: Metadata): KubeObject {
  const { deletionGracePeriodSeconds: _grace, ...metadata } = ending;
  const { deletionTimestamp = ending.deletionTimestamp } = namespace.metadata ?? {};
  const marked = { ...metadata, ...(deletionTimestamp !== undefined && { deletionTimestamp }) };
  return { ...namespace, metadata: marked, ...{ status: { ...objectAt(namespace, 'status'), phase: 'Terminating' } } };
}

/** Only pods that run somewhere get time to end; a second request may only shorten it. */
function remainingGrace(kind: Kind, object: KubeObject, { gracePeriodSeconds }: RemoveOptions): number {
  if (resourceName(kind) !== 'pods' || !isRunning(object)) {
    return 0;
  }
  const { deletionGracePeriodSeconds } = object.metadata ?? {};
  const own = objectAt(object, 'spec')['terminationGracePeriodSeconds'];
  const asked = Math.max(0, gracePeriodSeconds ?? (typeof own === 'number' ? own : 30));
  if (deletionGracePeriodSeconds === undefined) {
    return asked;
  }
  return gracePeriodSeconds === undefined ? deletionGracePeriodSeconds : Math.min(asked, deletionGracePeriodSeconds);
}

function isRunning(pod: KubeObject): boolean {
  const phase = stringAt(pod, 'status', 'phase');
  return (stringAt(pod, 'spec', 'nodeName') ?? '') !== '' && phase !== 'Succeeded' && phase !== 'Failed';
}

/** Jobs keep their pods unless asked otherwise, as they always did. */
function policyOf(write: Write, { propagationPolicy }: RemoveOptions): PropagationPolicy | undefined {
  if (propagationPolicy !== undefined || resourceName(write.kind) !== 'jobs.batch') {
    return propagationPolicy;
  }
  write.warn(
    'child pods are preserved by default when jobs are deleted; ' +
      'set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning',
  );
  return 'Orphan';
}

function finalizersAfter(kind: Kind, object: KubeObject, policy: PropagationPolicy | undefined): string[] {
  const { finalizers = [], deletionTimestamp } = object.metadata ?? {};
  const isDefinition = resourceName(kind) === 'customresourcedefinitions.apiextensions.k8s.io';
  const held = isDefinition && deletionTimestamp === undefined ? [...finalizers, cleanup] : finalizers;
  return policy === undefined ? held : withPolicy(held, policy);
}

function withPolicy(finalizers: readonly string[], policy: PropagationPolicy): string[] {
  const others = finalizers.filter((finalizer) => finalizer !== foreground && finalizer !== orphan);
  switch (policy) {
    case 'Background':
      return others;
    case 'Foreground':
      return [...others, foreground];
    case 'Orphan':
      return [...others, orphan];
  }
}

function assertPreconditions(write: Write, { metadata = {} }: KubeObject, options: RemoveOptions): void {
  const subject = { ...subjectOf(write), plural: write.kind.kind };
  const { uid = '', resourceVersion = '' } = metadata;
  if (options.uid !== undefined && options.uid !== uid) {
    const what = `the UID in the precondition (${options.uid}) does not match the UID in record (${uid})`;
    throw conflict(subject, `${what}. The object might have been deleted and then recreated`);
  }
  if (options.resourceVersion !== undefined && options.resourceVersion !== resourceVersion) {
    const asked = `the ResourceVersion in the precondition (${options.resourceVersion})`;
    const what = `${asked} does not match the ResourceVersion in record (${resourceVersion})`;
    throw conflict(subject, `${what}. The object might have been modified`);
  }
}
