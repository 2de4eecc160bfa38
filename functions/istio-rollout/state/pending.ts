import type { Config } from '../config.ts';
import { digest } from '../digest.ts';
import type { Pending, State } from './state.ts';

/** Why to scan, and where. */
export interface Trigger {
  /** Absent: everywhere. */
  readonly namespaces?: readonly string[];
  readonly reasons: readonly string[];
  /** How long istiod takes to see what changed; nothing where it need not. */
  readonly delayMs: number;
}

const longestReasons = 20;

/** Joins a trigger to what is pending. Further ones push it back, but not for ever. */
export function withTrigger(
  state: State,
  { namespaces, reasons, delayMs }: Trigger,
  now: number,
  { MAX_DEBOUNCE }: Config,
): State {
  const { pending = nothing(now) } = state;
  const isEverywhere = namespaces === undefined || pending.namespaces === undefined;
  const dueAt = delayMs === 0 ? Math.min(now, pending.dueAt) : Math.min(now + delayMs, pending.firstAt + MAX_DEBOUNCE);
  const next: Pending = {
    ...(isEverywhere ? {} : { namespaces: distinct([...pending.namespaces, ...namespaces]) }),
    reasons: distinct([...pending.reasons, ...reasons]).slice(0, longestReasons),
    firstAt: pending.firstAt,
    dueAt,
    triggers: pending.triggers + 1,
    attempts: 0,
  };
  return { ...state, pending: next };
}

function nothing(now: number): Pending {
  return { namespaces: [], reasons: [], firstAt: now, dueAt: now, triggers: 0, attempts: 0 };
}

function distinct(values: readonly string[]): readonly string[] {
  return [...new Set(values)];
}

/** The scan that is due now, if any: what is pending, or the periodic one. */
export function dueScan(state: State, now: number, { RECONCILE_PERIOD }: Config): Pending | undefined {
  const { pending, pacing } = state;
  const last = pacing.lastFullScanAt;
  const isPeriodic = last === undefined || (RECONCILE_PERIOD > 0 && now >= last + RECONCILE_PERIOD);
  if (pending !== undefined && now >= pending.dueAt) {
    const { namespaces, ...everywhere } = pending;
    return isPeriodic || namespaces === undefined ? everywhere : pending;
  }
  return isPeriodic && pending === undefined
    ? { reasons: ['periodic'], firstAt: now, dueAt: now, triggers: 0, attempts: 0 }
    : undefined;
}

const shortestBackoffMs = 10_000;
const longestBackoffMs = 5 * 60_000;

/** From 10 s, doubling, to 5 min. */
export function backoffMs(attempts: number): number {
  return Math.min(shortestBackoffMs * 2 ** Math.max(0, attempts - 1), longestBackoffMs);
}

/** Everything that candidates were found under: what they were compared with would differ under anything else. */
export function configFingerprint(
  { controlPlanes, meshConfigs, webhooks }: State,
  { DRIFT_CHECKS, COMPARE_HUB, REMOVE_SIDECARS, PROBE_MODE }: Config,
): string {
  const hashes = [controlPlanes, meshConfigs, webhooks].map((known) =>
    Object.entries(known)
      .map(([name, { hash }]) => [name, hash])
      .sort(),
  );
  return digest([hashes, DRIFT_CHECKS, COMPARE_HUB, REMOVE_SIDECARS, PROBE_MODE]).slice(0, 32);
}
