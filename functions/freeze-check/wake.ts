import type { Context } from '../../lib/function/definition.ts';
import type { Handler, Subject, Trigger, Wake } from '../../lib/function/triggers.ts';
import { cronJobs, namespaces, type Resource } from '../../lib/kube/model/resource.ts';
import type { KubeObject } from '../../lib/kube/model/wire.ts';
import type { Config } from './config.ts';
import { readException } from './exception.ts';
import { asksFor } from './hold/claims.ts';
import type { HeldKind } from './hold/kind.ts';
import { gitopsKinds, heldKinds } from './hold/kinds.ts';
import { ownerOf } from './hold/plan.ts';
import { malformation } from './kinds/conform.ts';
import { changeFreezes, freezeExceptions, maintenanceWindows, type Policy, type PolicyKind } from './policy.ts';
import { reconcile, reconcileAt } from './reconcile.ts';
import { readFreeze, readMaintenanceWindow } from './rule.ts';
import { currentPolicies } from './snapshot.ts';
import { exceptionState, ruleState } from './state.ts';
import { isTold, type Findings } from './status.ts';

/** What wakes the acting half besides its tick. */
export function triggers({ GITOPS_EVENTS }: Config): readonly Trigger<Config>[] {
  return [
    ...[changeFreezes, maintenanceWindows, freezeExceptions].map((resource) => everywhere(resource, onPolicy)),
    everywhere(namespaces, onNamespace),
    everywhere(cronJobs, onObject),
    ...gitopsKinds(GITOPS_EVENTS).map(({ resource }) => everywhere(resource, onObject)),
  ];
}

function everywhere(resource: Resource, handle: Handler<Config>): Trigger<Config> {
  return { resource, mode: 'Reference', scope: 'cluster', handle };
}

/** A policy that is new, changed, gone or at a turn may concern every object; our own write of its status does not. */
async function onPolicy(context: Context<Config>, { subjects }: Wake): Promise<void> {
  const now = context.now().getTime();
  const found = await Promise.all(subjects.map((subject) => findPolicy(context, subject, now)));
  if (found.some((findings) => findings === undefined || !isTold(findings))) {
    await reconcile(context);
  }
}

/** A policy and where it stands; `undefined` for one that is gone or that nobody can read. */
async function findPolicy(
  { kube }: Context<Config>,
  { kind, name }: Subject,
  now: number,
): Promise<Pick<Findings, 'policy' | 'state'> | undefined> {
  switch (kind) {
    case 'ChangeFreeze': {
      const policy = await kube.get(changeFreezes, { name });
      return isReadable('ChangeFreeze', policy) ? { policy, state: ruleState(readFreeze(policy), now) } : undefined;
    }
    case 'MaintenanceWindow': {
      const policy = await kube.get(maintenanceWindows, { name });
      return isReadable('MaintenanceWindow', policy)
        ? { policy, state: ruleState(readMaintenanceWindow(policy), now) }
        : undefined;
    }
    default: {
      const policy = await kube.get(freezeExceptions, { name });
      return isReadable('FreezeException', policy)
        ? { policy, state: exceptionState(readException(policy), now) }
        : undefined;
    }
  }
}

function isReadable<T extends Policy>(kind: PolicyKind, policy: T | undefined): policy is T {
  return policy !== undefined && malformation(kind, policy) === undefined;
}

/** Its labels may have brought it under a policy, or out of one. */
async function onNamespace(context: Context<Config>, { subjects }: Wake): Promise<void> {
  await forEach(subjects, ({ name }) => reconcileAt(context, heldKinds(context.config), { namespace: name }));
}

/** CronJobs change with each of their runs: nearly always a look at the object and the snapshot is enough. */
async function onObject(context: Context<Config>, { subjects }: Wake): Promise<void> {
  await forEach(subjects, async ({ kind: wanted, namespace = '', name }) => {
    const kind = heldKinds(context.config).find(({ resource }) => resource.kind === wanted);
    const object = kind && (await context.kube.get(kind.resource, { namespace, name }));
    if (kind !== undefined && object !== undefined && (await mayConcern(context, kind, object))) {
      await reconcileAt(context, [kind], { namespace, name });
    }
  });
}

/** One after the other, whatever becomes of those before; the first that failed is told. */
async function forEach(subjects: readonly Subject[], handle: (subject: Subject) => Promise<void>): Promise<void> {
  const failures: unknown[] = [];
  for (const subject of subjects) {
    await handle(subject).catch((error: unknown) => failures.push(error));
  }
  if (failures.length > 0) {
    throw failures[0];
  }
}

/**
 * Whether somebody holds the object, or a policy that denies now asks for its kind. What another controller is known to
 * undo at once, our marks included, is left to the tick, or the two would chase each other.
 */
async function mayConcern(context: Context<Config>, kind: HeldKind, object: KubeObject): Promise<boolean> {
  if (kind.contestedBy?.(object) !== undefined) {
    return false;
  }
  if (ownerOf(kind, object) !== undefined) {
    return true;
  }
  const { rules } = await currentPolicies(context);
  const now = context.now().getTime();
  return rules.some((rule) => rule.denying(now).on && asksFor(kind, rule));
}
