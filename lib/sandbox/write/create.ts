import { randomUUID } from 'node:crypto';
import type { KubeObject, Metadata } from '../../kube/model/wire.ts';
import type { Cluster } from './cluster.ts';
import { timestamp } from '../model/clock.ts';
import { generatedName } from './generate-name.ts';
import type { Kind } from '../model/kinds.ts';
import { withAddresses } from './service-address.ts';
import { alreadyExists, invalid } from '../model/status.ts';
import { beforeCreate, heldUntilEmpty } from './strategy.ts';
import { withMarks } from './workload-marks.ts';
import { attributes, mutate, subjectOf, withManagers, type Write } from './write.ts';

const nameAttempts = 8;

/** Stores a new object. `isApplied` says that its managed fields are already those of an apply. */
export async function create(
  cluster: Cluster,
  write: Write,
  sent: KubeObject,
  { isApplied = false } = {},
): Promise<KubeObject> {
  const { kind } = write;
  const object = cluster.rules.complete(kind, fresh(write, sent));
  const tracked = isApplied ? object : withManagers(cluster, write, object);
  const mutated = await mutate(cluster, write, 'CREATE', { object: tracked });
  const initial = initialise(cluster, kind, cluster.rules.complete(kind, mutated));
  const named = allotted(kind, initial);
  cluster.rules.check({ kind, object: named });
  await cluster.admission.validate(attributes(write, 'CREATE', { object: named }));
  return commitNew(cluster, write, named);
}

/** The object without what only the server writes. */
function fresh({ kind, namespace }: Write, sent: KubeObject): KubeObject {
  const {
    selfLink: _selfLink,
    uid: _uid,
    resourceVersion: _version,
    creationTimestamp: _created,
    deletionTimestamp: _deleted,
    deletionGracePeriodSeconds: _grace,
    ...metadata
  }: Metadata & { selfLink?: unknown } = sent.metadata ?? {};
  const placed: Metadata = { ...metadata, ...(namespace === undefined ? {} : { namespace }) };
  return beforeCreate(kind, { ...sent, metadata: placed });
}

/** The object with what the server gives it and nobody owns. */
function allotted(kind: Kind, object: KubeObject): KubeObject {
  return heldUntilEmpty(kind, withMarks(kind, withAddresses(kind, object)));
}

function initialise(cluster: Cluster, kind: Kind, object: KubeObject): KubeObject {
  const metadata = object.metadata ?? {};
  const name = metadata.name ?? generatedName(metadata.generateName);
  if (name === undefined) {
    const message = 'Required value: name or generateName is required';
    throw invalid(kind, '', [{ reason: 'FieldValueRequired', message, field: 'metadata.name' }]);
  }
  return {
    ...object,
    metadata: { ...metadata, name, uid: randomUUID(), creationTimestamp: timestamp(cluster.clock.now()) },
  };
}

function commitNew(cluster: Cluster, write: Write, object: KubeObject): KubeObject {
  const { kind, namespace, dryRun } = write;
  const free = withFreeName(cluster, write, object);
  const name = free.metadata?.name ?? '';
  if (cluster.store.get(kind, name, namespace) !== undefined) {
    throw alreadyExists(subjectOf({ kind, name }));
  }
  return dryRun ? free : cluster.store.put(kind, free).object;
}

/** A generated name that is taken is drawn again. */
function withFreeName(cluster: Cluster, { kind, namespace }: Write, object: KubeObject): KubeObject {
  const { generateName, name = '' } = object.metadata ?? {};
  let candidate = name;
  for (let attempt = 1; generateName && name.startsWith(generateName) && attempt < nameAttempts; attempt += 1) {
    if (cluster.store.get(kind, candidate, namespace) === undefined) {
      break;
    }
    candidate = generatedName(generateName) ?? name;
  }
  return candidate === name ? object : { ...object, metadata: { ...object.metadata, name: candidate } };
}
