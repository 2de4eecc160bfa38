import type { Context } from '../../lib/function/define.ts';
import { Failure } from '../../lib/function/failure.ts';
import { perInstance } from '../../lib/function/memory.ts';
import { namespaces, type Namespace, type Resource } from '../../lib/kube/resource.ts';
import { monotonicMs } from '../../lib/monotonic.ts';
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
  readonly policies: Shared<Policies>;
  readonly namespaces: Map<string, Shared<Namespace | undefined>>;
  /** Policies as they were last read, by uid: most stay the same from one reading to the next. */
  readonly read: Map<string, Versioned>;
  readonly clearing: Clearing;
}

interface Versioned {
  readonly version: string;
  readonly read: unknown;
}

/** Bounds the memory; names that nobody asks for any more are forgotten with the rest. */
const mostNamespaces = 5_000;

const snapshotOf = perInstance((): Snapshot => ({
  policies: createShared(),
  namespaces: new Map(),
  read: new Map(),
  clearing: createClearing(),
}));

/** The policies, no older than the settings allow. Fails when freezes or windows can't be read. */
export function currentPolicies(context: Context<Config>): Promise<Policies> {
  const { policies, read } = snapshotOf(context);
  return policies.get(() => readAll(context, read), monotonicMs(), context.config.POLICY_MAX_AGE);
}

/** When policies of the snapshot are clear. */
export function currentClearing(context: Context<Config>): Clearing {
  return snapshotOf(context).clearing;
}

/** Seconds since the policies at hand were read, if any are. */
export function policyAge(context: Context<Config>): number | undefined {
  const at = snapshotOf(context).policies.readAt();
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
export function currentNamespace(context: Context<Config>, name: string): Promise<Namespace | undefined> {
  const { namespaces: known } = snapshotOf(context);
  const shared = known.get(name) ?? createShared();
  if (known.size >= mostNamespaces) {
    known.clear();
  }
  known.set(name, shared);
  return shared.get(
    () => inTime(context, context.kube.get(namespaces, { name }), `namespace ${name}`),
    monotonicMs(),
    context.config.POLICY_MAX_AGE,
  );
}

/** Without the exceptions everything stays refused; without the others nothing could be. */
async function readAll(context: Context<Config>, known: Map<string, Versioned>): Promise<Policies> {
  const [freezes, windows, exceptions] = await Promise.all([
    listInTime(context, changeFreezes),
    listInTime(context, maintenanceWindows),
    listInTime(context, freezeExceptions).catch((error: unknown) => {
      context.log.warn({ err: error }, 'exceptions can not be read, none applies');
      return [];
    }),
  ]);
  refuseMalformed('ChangeFreeze', freezes);
  refuseMalformed('MaintenanceWindow', windows);
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

  return {
    rules: [...freezes.map(readOnce(readFreeze)), ...windows.map(readOnce(readMaintenanceWindow))],
    exceptions: wellFormed('FreezeException', exceptions).map(readOnce(readException)),
  };
}

function listInTime<T extends Policy>(context: Context<Config>, resource: Resource<T>): Promise<readonly T[]> {
  return inTime(context, listOf(context.kube, resource), resource.plural);
}

/** What such a policy denies nobody knows, so nothing may pass until it is mended. */
function refuseMalformed(kind: PolicyKind, policies: readonly Policy[]): void {
  for (const policy of policies) {
    const why = malformation(kind, policy);
    if (why !== undefined) {
      throw new Failure('impossible', `${kind}/${policy.metadata?.name ?? ''} must be mended or deleted: ${why}`);
    }
  }
}
