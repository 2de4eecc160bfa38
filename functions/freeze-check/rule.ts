import { formatInstant, parseInstant } from '../../lib/time/instant.ts';
import { utc, type Zone } from '../../lib/time/zone.ts';
import { always, inverse, nextTurn, once, recurring, remembered, type Intervals } from './intervals.ts';
import type { ChangeFreeze, ChangeFreezeSpec, DenyKind, DenyPolicy, MaintenanceWindow } from './policy.ts';
import { attempt, type Problem } from './problem.ts';
import { checkGitOps, readTarget, type Coverage } from './target.ts';
import { readRecurrence, readWindows, readZone, type OpenWindow } from './windows.ts';

/** A policy that denies, read once to be asked often. */
export interface Rule {
  readonly kind: DenyKind;
  readonly name: string;
  readonly policy: DenyPolicy;
  readonly coverage: Coverage;
  /** On while the policy refuses what it denies. */
  readonly denying: Intervals;
  /** When it stops to deny or begins to, if that is in sight. */
  readonly turnAfter: (now: number) => number | undefined;
  /** The same for people, of a policy that denies. */
  readonly turnText: (now: number) => string | undefined;
  /** Of a MaintenanceWindow. */
  readonly windows: readonly OpenWindow[];
  /** Where its people live. */
  readonly zone: Zone | undefined;
  readonly problems: readonly Problem[];
}

/** Reads a freeze. One that doesn't say when it ends is on: a mistake must not lift it. */
export function readFreeze(policy: ChangeFreeze): Rule {
  const problems: Problem[] = [];
  const { target, timezone = '' } = policy.spec;
  const zone = timezone === '' ? undefined : readZone(timezone, problems);
  checkGitOps(policy.spec.behavior?.gitops ?? {}, problems);
  return {
    kind: 'ChangeFreeze',
    name: policy.metadata?.name ?? '',
    policy,
    coverage: readTarget(target, problems),
    ...timed(freezeIntervals(policy.spec, timezone === '' ? utc : zone, problems) ?? always),
    windows: [],
    zone,
    problems,
  };
}

/** The zone is absent where the freeze names one that can't be read. */
function freezeIntervals(spec: ChangeFreezeSpec, zone: Zone | undefined, problems: Problem[]): Intervals | undefined {
  const { schedule, duration } = spec;
  if (schedule === undefined || duration === undefined) {
    return singleInterval(spec, problems);
  }
  const read = readRecurrence({ schedule, duration, timezone: zone?.name ?? '' }, 'spec', problems);
  return read === undefined || zone === undefined ? undefined : recurring([read]);
}

function singleInterval({ startTime, endTime }: ChangeFreezeSpec, problems: Problem[]): Intervals | undefined {
  if (startTime === undefined || endTime === undefined) {
    problems.push({
      reason: 'EvaluationFailed',
      message: 'spec: must have startTime and endTime, or schedule and duration',
    });
    return undefined;
  }
  const interval = readInterval({ startTime, endTime }, problems);
  if (interval !== undefined && interval[0] >= interval[1]) {
    problems.push({ reason: 'EvaluationFailed', message: 'spec.endTime must be after spec.startTime' });
  }
  return interval === undefined ? undefined : once(...interval);
}

/** Two times given as fields of the spec. */
export function readInterval(
  times: Readonly<Record<string, string>>,
  problems: Problem[],
): readonly [number, number] | undefined {
  const [start, end] = Object.entries(times).map(([field, text]) =>
    attempt(
      () => parseInstant(text),
      (cause) => problems.push({ reason: 'EvaluationFailed', message: `spec.${field}: ${cause}` }),
    ),
  );
  return start === undefined || end === undefined ? undefined : [start, end];
}

export function readMaintenanceWindow(policy: MaintenanceWindow): Rule {
  const problems: Problem[] = [];
  const { target, timezone, mode } = policy.spec;
  const zone = readZone(timezone, problems);
  checkGitOps(policy.spec.behavior?.gitops ?? {}, problems);
  if (policy.spec.windows.length === 0) {
    problems.push({ reason: 'EvaluationFailed', message: 'spec.windows: must have at least one window' });
  }
  const windows = readWindows(policy.spec.windows, zone, problems);
  const open = recurring(windows.flatMap(({ recurs }) => (recurs === undefined ? [] : [recurs])));
  return {
    kind: 'MaintenanceWindow',
    name: policy.metadata?.name ?? '',
    policy,
    coverage: readTarget(target, problems),
    ...timed(mode === 'DenyInsideWindows' ? open : inverse(open)),
    windows,
    zone,
    problems,
  };
}

/** All are asked for every review, and change a few times a day. */
function timed(intervals: Intervals): Pick<Rule, 'denying' | 'turnAfter' | 'turnText'> {
  const denying = remembered(intervals);
  const turn = remembered((now) => {
    const found = nextTurn(denying, now);
    const text = found.at === undefined ? undefined : `next allowed at ${formatInstant(found.at)}`;
    return { ...found, text };
  });
  return { denying, turnAfter: (now) => turn(now).at, turnText: (now) => turn(now).text };
}
