import type { Deployment, ReplicaSet } from '../../kube/model/resource.ts';

/** How many pods each ReplicaSet should have, by name. Those that stay as they are, are left out. */
export type Targets = ReadonlyMap<string, number>;

export interface Rollout {
  readonly deployment: Deployment;
  /** The ReplicaSet with the present template, if it exists. */
  readonly fresh?: ReplicaSet;
  /** The others, oldest first. */
  readonly old: readonly ReplicaSet[];
}

export interface Limits {
  readonly maxSurge: number;
  readonly maxUnavailable: number;
}

export const desiredAnnotation = 'deployment.kubernetes.io/desired-replicas';
export const maxAnnotation = 'deployment.kubernetes.io/max-replicas';

export function wanted({ spec }: Deployment): number {
  return spec?.replicas ?? 1;
}

export function replicasOf({ spec }: ReplicaSet): number {
  return spec?.replicas ?? 1;
}

export function availableOf({ status }: ReplicaSet): number {
  return status?.availableReplicas ?? 0;
}

/** Percentages of the surge round up, those of the unavailable down; at least one pod must be able to move. */
export function limitsOf(deployment: Deployment): Limits {
  const { strategy } = deployment.spec ?? {};
  if (strategy?.type === 'Recreate') {
    return { maxSurge: 0, maxUnavailable: 0 };
  }
  const { maxSurge = '25%', maxUnavailable = '25%' } = strategy?.rollingUpdate ?? {};
  const total = wanted(deployment);
  const surge = share(maxSurge, total, Math.ceil);
  const unavailable = share(maxUnavailable, total, Math.floor);
  return { maxSurge: surge, maxUnavailable: Math.min(surge === 0 && unavailable === 0 ? 1 : unavailable, total) };
}

/** A number or a percentage of `total`. */
export function share(value: number | string, total: number, round: (value: number) => number): number {
  const text = String(value);
  return text.endsWith('%') ? round((Number(text.slice(0, -1)) * total) / 100) : Number(text);
}

/** The most pods that may exist at a time. */
export function ceilingOf(deployment: Deployment): number {
  return wanted(deployment) === 0 ? 0 : wanted(deployment) + limitsOf(deployment).maxSurge;
}

/** The next step of a rolling update: the fresh one grows first, then old ones shrink. */
export function rollingStep({ deployment, fresh, old }: Rollout & { readonly fresh: ReplicaSet }): Targets {
  const grown = freshTarget(deployment, fresh, old);
  if (grown !== replicasOf(fresh)) {
    return new Map([[nameOf(fresh), grown]]);
  }
  return shrinkOld(deployment, fresh, old);
}

function freshTarget(deployment: Deployment, fresh: ReplicaSet, old: readonly ReplicaSet[]): number {
  const target = wanted(deployment);
  const present = replicasOf(fresh);
  if (present >= target) {
    return target;
  }
  const room = target + limitsOf(deployment).maxSurge - total([fresh, ...old]);
  return room <= 0 ? present : present + Math.min(room, target - present);
}

function shrinkOld(deployment: Deployment, fresh: ReplicaSet, old: readonly ReplicaSet[]): Targets {
  const minAvailable = wanted(deployment) - limitsOf(deployment).maxUnavailable;
  const unavailableFresh = replicasOf(fresh) - availableOf(fresh);
  const surplus = total([fresh, ...old]) - minAvailable - unavailableFresh;
  const targets = new Map<string, number>();
  const broken = take(old, surplus, (each) => replicasOf(each) - availableOf(each), targets);
  const available = [fresh, ...old].reduce((sum, each) => sum + availableOf(each), 0);
  take(old, Math.min(surplus - broken, available - minAvailable), (each) => availableOf(each), targets);
  return targets;
}

/** Takes up to `budget` pods from the ReplicaSets in order, at most what `offer` gives; the answer is how many. */
function take(
  from: readonly ReplicaSet[],
  budget: number,
  offer: (replicaSet: ReplicaSet) => number,
  targets: Map<string, number>,
): number {
  let taken = 0;
  for (const replicaSet of from) {
    const present = targets.get(nameOf(replicaSet)) ?? replicasOf(replicaSet);
    const count = Math.min(budget - taken, offer(replicaSet), present);
    if (count > 0) {
      targets.set(nameOf(replicaSet), present - count);
      taken += count;
    }
  }
  return taken;
}

/** Recreate: all old ones go to zero; the fresh one starts when no old pod is left. */
export function recreateStep({ deployment, fresh, old }: Rollout, oldPodsAreGone: boolean): Targets {
  const shrinking = old.filter((each) => replicasOf(each) > 0);
  if (shrinking.length > 0) {
    return new Map(shrinking.map((each) => [nameOf(each), 0]));
  }
  const needsPods = fresh !== undefined && replicasOf(fresh) !== wanted(deployment);
  return oldPodsAreGone && needsPods ? new Map([[nameOf(fresh), wanted(deployment)]]) : new Map();
}

/** True when the Deployment asks for another number than its ReplicaSets' annotations record. */
export function isScaling({ deployment, fresh, old }: Rollout): boolean {
  return [...(fresh ? [fresh] : []), ...old]
    .filter((each) => replicasOf(each) > 0)
    .some(({ metadata }) => {
      const recorded = metadata?.annotations?.[desiredAnnotation];
      return recorded !== undefined && Number(recorded) !== wanted(deployment);
    });
}

/** Spreads a new number over the ReplicaSets in proportion, the leftover going to the newest. */
export function scaleStep(rollout: Rollout): Targets {
  const { deployment, fresh, old } = rollout;
  const all = [...(fresh ? [fresh] : []), ...old.toReversed()];
  const active = all.filter((each) => replicasOf(each) > 0);
  const [single = all[0]] = active;
  if (single === undefined) {
    return new Map();
  }
  if (active.length <= 1) {
    return new Map([[nameOf(single), wanted(deployment)]]);
  }
  if (fresh !== undefined && isSaturated(deployment, fresh)) {
    return new Map(old.filter((each) => replicasOf(each) > 0).map((each) => [nameOf(each), 0]));
  }
  return proportional(deployment, active);
}

function isSaturated(deployment: Deployment, fresh: ReplicaSet): boolean {
  return replicasOf(fresh) === wanted(deployment) && availableOf(fresh) === wanted(deployment);
}

function proportional(deployment: Deployment, active: readonly ReplicaSet[]): Targets {
  const ceiling = ceilingOf(deployment);
  const targets = new Map(
    active.map((each) => {
      const before = Number(each.metadata?.annotations?.[maxAnnotation] ?? wanted(deployment)) || 1;
      return [nameOf(each), Math.round((replicasOf(each) * ceiling) / before)];
    }),
  );
  const [newest] = active;
  const leftover = ceiling - [...targets.values()].reduce((sum, count) => sum + count, 0);
  if (newest !== undefined) {
    targets.set(nameOf(newest), Math.max(0, (targets.get(nameOf(newest)) ?? 0) + leftover));
  }
  return targets;
}

function total(all: readonly ReplicaSet[]): number {
  return all.reduce((sum, each) => sum + replicasOf(each), 0);
}

function nameOf({ metadata }: ReplicaSet): string {
  return metadata?.name ?? '';
}
