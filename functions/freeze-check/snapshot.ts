import type { Context } from '../../lib/function/definition.ts';
import { Failure } from '../../lib/base/failure.ts';
import { memoryKey } from '../../lib/function/memory.ts';
import { namespaces, type Namespace, type Resource } from '../../lib/kube/model/resource.ts';
import { monotonicMs } from '../../lib/base/monotonic.ts';
import { createClearing, type Clearing } from './clearing.ts';
import type { Config } from './config.ts';
import { readException } from './exception.ts';
import { malformation } from './kinds/conform.ts';
import { listOf, wellFormed, type Policies } from './policies.ts';
import { changeFreezes, freezeExceptions, maintenanceWindows, type Policy, type PolicyKind } from './policy.ts';
import { inTime } from './reading.ts';
import { readFreeze, readMaintenanceWindow } from './rule.ts';
import { createShared, type Shared } from './shared.ts';

/** What admission decides by. It may be forgotten at any time without changing a decision. */
interface Snapshot {
  readonly policies: Shared<Reading>;
  readonly namespaces: Map<string, Shared<Namespace | undefined>>;
  /** Policies as they were last read, by uid: most stay the same from one reading to the next. */
  readonly read: Map<string, Versioned>;
  readonly clearing: Clearing;
}

/** What the lists held. They count as read, whatever is wrong with a policy in them. */
interface Reading {
  readonly policies: Policies;
  /** Why nothing can be judged by them, if so. */
  readonly obstacle?: string;
}

interface Versioned {
  readonly version: string;
  readonly read: unknown;
}

/** Bounds the memory; names that nobody asks for any more are forgotten with the rest. */
const mostNamespaces = 5_000;

const snapshotKey = memoryKey((): Snapshot => ({
  policies: createShared(),
  namespaces: new Map(),
  read: new Map(),
  clearing: createClearing(),
}));

/** The policies, no older than the settings allow. Fails when freezes or windows can't be read. */
export async function currentPolicies(context: Context<Config>): Promise<Policies> {
  const { policies: shared, read } = context.memory(snapshotKey);
  const { POLICY_MAX_AGE } = context.config;
  const { policies, obstacle } = await shared.get(() => readAll(context, read), monotonicMs(), POLICY_MAX_AGE);
  if (obstacle !== undefined) {
    throw new Failure('impossible', obstacle);
  }
  return policies;
}

/** When policies of the snapshot are clear. */
export function currentClearing(context: Context<Config>): Clearing {
  return context.memory(snapshotKey).clearing;
}

/** Seconds since the policies at hand were read, if any are. */
export function policyAge(context: Context<Config>): number | undefined {
  const at = context.memory(snapshotKey).policies.readAt();
  return at === undefined ? undefined : (monotonicMs() - at) / 1000;
}

/** Why no review should be sent here yet, if so. */
export function missingPolicies(context: Context<Config>): string | undefined {
  if (policyAge(context) !== undefined) {
    return undefined;
  }
  // Whether it worked shows when somebody asks again.
  currentPolicies(context).catch((error: unknown) => context.log.warn({ err: error }, 'policies can not be read'));
  return 'the policies have not been read yet';
}

/** A namespace, no older than the settings allow. `undefined` when there is none of that name. */
export async function currentNamespace(context: Context<Config>, name: string): Promise<Namespace | undefined> {
  const { namespaces: known } = context.memory(snapshotKey);
  const shared = known.get(name) ?? createShared();
  if (known.size >= mostNamespaces) {
    known.clear();
  }
  known.set(name, shared);
  function read(): Promise<Namespace | undefined> {
    return inTime(context, context.kube.get(namespaces, { name }), `namespace ${name}`);
  }
  const found = await shared.get(read, monotonicMs(), context.config.POLICY_MAX_AGE);
  // One that was not there a moment ago may have been made since.
  return found ?? read();
}

/** Without the exceptions everything stays refused; without the others nothing could be. */
async function readAll(context: Context<Config>, known: Map<string, Versioned>): Promise<Reading> {
  const [freezes, windows, exceptions] = await Promise.all([
    listInTime(context, changeFreezes),
    listInTime(context, maintenanceWindows),
    listInTime(context, freezeExceptions).catch((error: unknown) => {
      context.log.warn({ err: error }, 'exceptions can not be read, none applies');
      return [];
    }),
  ]);
  const obstacle = malformed('ChangeFreeze', freezes) ?? malformed('MaintenanceWindow', windows);
  const before = new Map(known);
  known.clear();

  function readOnce<T extends Policy, R>(read: (policy: T) => R): (policy: T) => R {
    return (policy) => {
      const { uid = '', generation, resourceVersion = '' } = policy.metadata ?? {};
      // The resource version moves with every status that we write.
      const version = generation?.toString() ?? resourceVersion;
      const last = before.get(uid);
      const versioned = last?.version === version ? last : { version, read: read(policy) };
      known.set(uid, versioned);
      return versioned.read as R;
    };
  }

  const policies = {
    rules: [
      ...wellFormed('ChangeFreeze', freezes).map(readOnce(readFreeze)),
      ...wellFormed('MaintenanceWindow', windows).map(readOnce(readMaintenanceWindow)),
    ],
    exceptions: wellFormed('FreezeException', exceptions).map(readOnce(readException)),
  };
  return { policies, ...(obstacle === undefined ? {} : { obstacle }) };
}

function listInTime<T extends Policy>(context: Context<Config>, resource: Resource<T>): Promise<readonly T[]> {
  return inTime(context, listOf(context.kube, resource), resource.plural);
}

/** What such a policy denies nobody knows, so nothing may pass until it is mended. */
function malformed(kind: PolicyKind, policies: readonly Policy[]): string | undefined {
  for (const policy of policies) {
    const why = malformation(kind, policy);
    if (why !== undefined) {
      return `${kind}/${policy.metadata?.name ?? ''} must be mended or deleted: ${why}`;
    }
  }
  return undefined;
}
