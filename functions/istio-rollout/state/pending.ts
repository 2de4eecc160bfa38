import type { Config } from '../config.ts';
import { digestOf } from '../../../lib/base/digest.ts';
import { doublingMs, type Growth } from '../../../lib/base/doubling.ts';
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
  const firstAt = pending.attempts > 0 ? now : pending.firstAt; // after a failed scan the wait begins anew
  const next: Pending = {
    ...(isEverywhere ? {} : named([...pending.namespaces, ...namespaces])),
    reasons: distinct([...pending.reasons, ...reasons]).slice(0, longestReasons),
    firstAt,
    dueAt: delayMs > 0 ? Math.min(now + delayMs, firstAt + MAX_DEBOUNCE) : dueAtOnce(pending, now),
    triggers: pending.triggers + 1,
    attempts: 0,
  };
  return { ...state, pending: next };
}

/** So many need not be named: a scan of everything costs less than to remember them. */
const mostNamed = 500;

/** Where to scan: these namespaces, or everywhere if they are too many. */
export function named(namespaces: readonly string[]): Pick<Pending, 'namespaces'> {
  const names = distinct(namespaces);
  return names.length > mostNamed ? {} : { namespaces: names };
}

/** At once, but not before istiod had its time for a change that waits already: that scan will do for both. */
function dueAtOnce({ attempts, dueAt }: Pending, now: number): number {
  return attempts > 0 ? now : Math.max(now, dueAt);
}

/** Whether nothing has joined since. */
export function isSameTrigger(a: Pending, b: Pending): boolean {
  return a.triggers === b.triggers && a.firstAt === b.firstAt;
}

function nothing(now: number): Pending {
  return { namespaces: [], reasons: [], firstAt: now, dueAt: now, triggers: 0, attempts: 0 };
}

function distinct(values: readonly string[]): readonly string[] {
  return [...new Set(values)];
}

/** The scan that is due now, if any: what is pending, or one of everything. */
export function dueScan(state: State, now: number, config: Config): Pending | undefined {
  const { pending } = state;
  const isFull = isFullScanDue(state, now, config);
  if (pending !== undefined && now >= pending.dueAt) {
    const { namespaces, ...everywhere } = pending;
    return isFull || namespaces === undefined ? everywhere : pending;
  }
  return isFull && pending === undefined
    ? { reasons: ['periodic'], firstAt: now, dueAt: now, triggers: 0, attempts: 0 }
    : undefined;
}

/** From time to time, and when those candidates are done that there was room for. */
function isFullScanDue({ pacing, queue, omitted }: State, now: number, { RECONCILE_PERIOD }: Config): boolean {
  const last = pacing.lastFullScanAt;
  const isRunDry = omitted.queue !== undefined && queue.items.length === 0;
  return last === undefined || isRunDry || (RECONCILE_PERIOD > 0 && now >= last + RECONCILE_PERIOD);
}

const growth: Growth = { firstMs: 10_000, longestMs: 5 * 60_000 };

/** How long to wait after this number of failures. */
export function retryPauseMs(attempts: number): number {
  return doublingMs(attempts, growth);
}

/** A scan after a change of these finds other workloads, has another opinion about them, or lets them wait otherwise. */
const scanSettings = [
  'ARGO_ROLLOUTS',
  'COMPARE_HUB',
  'COOLDOWN',
  'DRIFT_CHECKS',
  'DRY_RUN',
  'FREEZE_URL',
  'ISTIO_NAMESPACES',
  'MAX_ATTEMPTS',
  'NAMESPACES',
  'NAMESPACE_SELECTOR',
  'ON_DELETE_ACTION',
  'PROBE_MODE',
  'REMOVE_SIDECARS',
  'SKIP_NAMESPACES',
  'UNMANAGED_ACTION',
  'WINDOW',
] as const satisfies readonly (keyof Config)[];

export function settingsFingerprint(config: Config): string {
  return digestOf(scanSettings.map((name) => config[name])).slice(0, 32);
}

/** Settings can change without an event: what was scanned with others is scanned again. */
export function withSettings(state: State, now: number, config: Config): State {
  const { pacing, pending } = state;
  const isKnown = pacing.lastFullScanAt === undefined || pacing.scannedWith === settingsFingerprint(config);
  const isComing = pending !== undefined && pending.namespaces === undefined;
  return isKnown || isComing ? state : withTrigger(state, { reasons: ['settings'], delayMs: 0 }, now, config);
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
  return digestOf([hashes, DRIFT_CHECKS, COMPARE_HUB, REMOVE_SIDECARS, PROBE_MODE]).slice(0, 32);
}
