import type { PodDisruptionBudget } from '../../../lib/kube/model/resource.ts';
import { matchesLabelSelector } from '../../../lib/kube/model/selector.ts';
import type { Config } from '../config.ts';
import { foreignRestartAnnotations } from '../names.ts';
import type { Wishes } from '../scan/wishes.ts';
import type { Workload } from '../scan/workload.ts';
import type { Wait } from '../state/state.ts';
import { nextOpening, parseWindows } from '../window.ts';

/** What was read about the surroundings of a workload just before its restart. */
export interface Surroundings {
  /** Or that the right to list them is missing. */
  readonly budgets: readonly PodDisruptionBudget[] | 'forbidden';
  /** istiod of the revision is available and not itself being rolled out. */
  readonly isIstiodReady: boolean;
  /** Until when somebody else forbids changes; absent where nobody does. */
  readonly frozenUntil?: number;
  /** The workload is unhealthy by a restart of ours that failed, and this one is for another proxy. */
  readonly isHealing: boolean;
}

/** A gate may open at any moment, and looking at it costs little. */
export const gateMs = 15_000;
const aMinuteMs = 60_000;

/**
 * Why a workload that should be restarted has to wait. Undefined: go. One that our own restart has broken neither has to
 * be healthy nor within a budget that its broken pods use up: they go first, and its healthy ones as its strategy says.
 */
export function waitOf(
  workload: Workload,
  wishes: Wishes,
  surroundings: Surroundings,
  { config, now }: { readonly config: Config; readonly now: number },
): Wait | undefined {
  return (
    cooldown(workload, config, now) ??
    (surroundings.isHealing ? undefined : health(workload, config, now)) ??
    window(wishes, now) ??
    freeze(surroundings) ??
    (surroundings.isHealing ? undefined : disruption(workload, surroundings, config, now)) ??
    (surroundings.isIstiodReady ? undefined : { code: 'IstiodNotReady', until: now + gateMs })
  );
}

/** Restarts by others count. A time that cannot be read, or lies far in the future, tells nothing. */
function cooldown(workload: Workload, config: Config, now: number): Wait | undefined {
  const { COOLDOWN } = config;
  const times = restartTimes(workload, config).filter((time) => time <= now + COOLDOWN);
  const until = Math.max(...times) + COOLDOWN;
  return COOLDOWN > 0 && until > now ? { code: 'Cooldown', until } : undefined;
}

/** A restart that is said to be further in the future than any cooldown lasts: somebody's clock is wrong. */
export function futureRestart(workload: Workload, config: Config, now: number): number | undefined {
  const { COOLDOWN } = config;
  return COOLDOWN > 0 ? restartTimes(workload, config).find((time) => time > now + COOLDOWN) : undefined;
}

function restartTimes({ template, restartAt }: Workload, { RESTART_ANNOTATION }: Config): readonly number[] {
  const names = [RESTART_ANNOTATION, ...foreignRestartAnnotations];
  return [...names.map((name) => template.annotations[name]), restartAt].flatMap((text) =>
    text === undefined ? [] : [Date.parse(text)],
  );
}

function health({ progress, replicas }: Workload, { ALLOW_UNHEALTHY }: Config, now: number): Wait | undefined {
  if (progress === 'settled' || ALLOW_UNHEALTHY || replicas === 0) {
    return undefined;
  }
  return { code: progress === 'failed' ? 'Unhealthy' : 'RolloutInProgress', until: now + gateMs };
}

function window({ window: text }: Wishes, now: number): Wait | undefined {
  try {
    const opens = nextOpening(parseWindows(text), new Date(now)).getTime();
    return opens > now ? { code: 'Window', ...(Number.isFinite(opens) && { until: opens }) } : undefined;
  } catch {
    return { code: 'WindowInvalid', until: now + aMinuteMs };
  }
}

function freeze({ frozenUntil }: Surroundings): Wait | undefined {
  return frozenUntil === undefined ? undefined : { code: 'Frozen', until: frozenUntil };
}

/** Rolling updates pass budgets by, so this is the only place where they are honoured. */
function disruption(
  { template }: Workload,
  { budgets }: Surroundings,
  { RESPECT_PDB }: Config,
  now: number,
): Wait | undefined {
  if (budgets === 'forbidden') {
    return { code: 'MayNotListPDBs', until: now + aMinuteMs };
  }
  const isForbidden = budgets.some(
    ({ spec, status }) => matchesLabelSelector(spec?.selector, template.labels) && status?.disruptionsAllowed === 0,
  );
  return RESPECT_PDB && isForbidden ? { code: 'PDB', until: now + gateMs } : undefined;
}
