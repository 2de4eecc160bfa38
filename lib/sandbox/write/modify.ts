import type { KubeObject } from '../../kube/model/wire.ts';
import type { Cluster } from './cluster.ts';
import { inVersion } from '../model/convert.ts';
import type { Kind } from '../model/kinds.ts';
import { assertUpdatable, inheritedMetadata } from './object-meta.ts';
import { isReleased } from './release.ts';
import { badRequest, conflict, invalid } from '../model/status.ts';
import { withAddresses } from './service-address.ts';
import type { Stored } from '../store/stored.ts';
import { beforeUpdate, needsResourceVersion } from './strategy.ts';
import { isEqual } from '../schema/value.ts';
import { attributes, liveObject, mutate, subjectOf, withManagers, type Write } from './write.ts';

/** Makes the next state from the present one. Runs again when somebody else wrote in between. */
export type Change = (live: KubeObject) => KubeObject;

const changedMeanwhile = 'the object has been modified; please apply your changes to the latest version and try again';
const attempts = 5;

/** Changes a stored object. `isApplied` says that its managed fields are already those of an apply. */
export async function modify(
  cluster: Cluster,
  write: Write,
  change: Change,
  { isApplied = false } = {},
): Promise<KubeObject> {
  for (let attempt = 1; ; attempt += 1) {
    const live = liveObject(cluster, write);
    const object = inVersion(write.kind, live.object);
    const next = await nextState(cluster, { ...write, isApplied }, object, change(object));
    const stored = commitChange(cluster, write, live, next);
    if (stored !== undefined) {
      return stored;
    }
    if (attempt === attempts) {
      throw conflict(subjectOf(write), changedMeanwhile);
    }
  }
}

/** Refuses an update that does not say which revision it starts from, where the kind wants that. */
export function assertNamesRevision(write: Write, sent: KubeObject): void {
  if (needsResourceVersion(write.kind) && (sent.metadata?.resourceVersion ?? '') === '') {
    const message = 'Invalid value: 0: must be specified for an update';
    const { group, plural } = write.kind;
    throw invalid({ group, kind: plural }, write.name ?? '', [
      { reason: 'FieldValueInvalid', message, field: 'metadata.resourceVersion' },
    ]);
  }
}

async function nextState(
  cluster: Cluster,
  write: Write & { isApplied: boolean },
  live: KubeObject,
  sent: KubeObject,
): Promise<KubeObject> {
  const { kind, subresource } = write;
  assertFresh(write, live, sent);
  const inherited = { ...sent, metadata: inheritedMetadata(sent.metadata, live.metadata) };
  const completed = beforeUpdate(kind, cluster.rules.complete(kind, inherited), live, subresource);
  const tracked = write.isApplied ? completed : withManagers(cluster, write, completed, live);
  const mutated = await mutate(cluster, write, 'UPDATE', { object: tracked, old: live });
  const next =
    mutated === tracked ? tracked : beforeUpdate(kind, cluster.rules.complete(kind, mutated), live, subresource);
  const addressed = withAddresses(kind, next, live);
  assertUpdatable(kind, addressed, live);
  cluster.rules.check({ kind, object: addressed, old: live, ...(subresource !== undefined && { subresource }) });
  await cluster.admission.validate(attributes(write, 'UPDATE', { object: addressed, old: live }));
  return addressed;
}

function assertFresh(write: Write, { metadata: live = {} }: KubeObject, { metadata: sent = {} }: KubeObject): void {
  const version = sent.resourceVersion ?? '';
  if (version === '' || version === live.resourceVersion) {
    return;
  }
  throw /^\d+$/.test(version)
    ? conflict(subjectOf(write), changedMeanwhile)
    : badRequest(`strconv.ParseUint: parsing ${JSON.stringify(version)}: invalid syntax`);
}

/** Stores the next state unless somebody else wrote meanwhile; an object that only waited for this goes away. */
function commitChange(cluster: Cluster, write: Write, live: Stored, next: KubeObject): KubeObject | undefined {
  const { kind, name = '', namespace, dryRun } = write;
  if (cluster.store.get(kind, name, namespace) !== live) {
    return undefined;
  }
  const state = { ...next, metadata: { ...next.metadata, resourceVersion: String(live.revision) } };
  if (isReleased(kind, state)) {
    return dryRun ? state : removeReleased(cluster, kind, live, state);
  }
  if (dryRun || isEqual(state, live.object)) {
    return state;
  }
  return cluster.store.put(kind, state, live).object;
}

function removeReleased(cluster: Cluster, kind: Kind, live: Stored, last: KubeObject): KubeObject {
  cluster.store.remove(kind, live, last);
  return last;
}
