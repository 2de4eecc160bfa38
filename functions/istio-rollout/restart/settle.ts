import type { Config } from '../config.ts';
import type { Notice } from '../notice.ts';
import type { Finding } from '../scan/scan.ts';
import type { Workload } from '../scan/workload.ts';
import { retryPauseMs, configFingerprint } from '../state/pending.ts';
import {
  counted,
  identityOf,
  isSame,
  standingOf,
  type Blocked,
  type Candidate,
  type InFlight,
  type State,
} from '../state/state.ts';
import { abandoned, patched } from './begin.ts';
import { lastStamp, stampOf } from './steps.ts';

/** What became of a restart. */
export type End =
  | { readonly is: 'open' }
  | { readonly is: 'adopted' }
  /** The patch never happened. */
  | { readonly is: 'undone' }
  /** There is no such workload any more, or one that failed was taken over by somebody. */
  | { readonly is: 'gone' }
  /** All pods are new; whether they are right is another look. */
  | { readonly is: 'replaced' }
  | { readonly is: 'reverted' }
  | { readonly is: 'failed'; readonly why: string };

/** A patch that was not seen for so long was never sent. */
const lostAfterMs = 30_000;

export function endOf(
  intent: InFlight,
  workload: Workload | undefined,
  { now, annotation, isPodGone }: { readonly now: number; readonly annotation: string; readonly isPodGone: boolean },
): End {
  if (workload?.uid !== intent.uid) {
    return { is: 'gone' };
  }
  const isDone = intent.pod === undefined ? lastStamp(workload, annotation) === stampOf(intent) : isPodGone;
  switch (intent.phase) {
    case 'Intent':
      return whileIntended(isDone, now - intent.intentAt);
    case 'Patched':
      return isDone ? whileRolling(intent, workload, now) : afterLoss(intent, now);
    case 'Failed':
      return isDone || intent.pod !== undefined ? whileFailed(isDone, workload) : { is: 'gone' };
  }
}

/** Late is better than never. */
function whileFailed(isDone: boolean, { progress }: Workload): End {
  return { is: isDone && progress === 'settled' ? 'replaced' : 'open' };
}

function whileIntended(isDone: boolean, ageMs: number): End {
  if (isDone) {
    return { is: 'adopted' };
  }
  return { is: ageMs > lostAfterMs ? 'undone' : 'open' };
}

function whileRolling({ deadline }: InFlight, { progress, isObserved }: Workload, now: number): End {
  if (progress === 'settled') {
    return { is: 'replaced' };
  }
  if (progress === 'failed' && isObserved) {
    return { is: 'failed', why: 'the rollout exceeded its own deadline' };
  }
  return now > deadline ? { is: 'failed', why: 'the rollout did not end in time' } : { is: 'open' };
}

/** An evicted pod takes its time to go; an annotation that is gone was taken away by somebody. */
function afterLoss({ pod, deadline }: InFlight, now: number): End {
  if (pod === undefined) {
    return { is: 'reverted' };
  }
  return now > deadline ? { is: 'failed', why: 'the evicted pod does not go' } : { is: 'open' };
}

/** What a look at a restart has found; the verification where its pods were found to be right. */
export interface Look {
  readonly end: End;
  readonly finding?: Finding | undefined;
  readonly verification?: string;
}

interface Settled {
  readonly state: State;
  readonly notices: readonly Notice[];
}

interface At {
  readonly config: Config;
  readonly now: number;
}

/** The state with the end of one restart in it, and the news. */
export function settled(
  state: State,
  intent: InFlight,
  { end, finding, verification }: Look,
  { config, now }: At,
): Settled {
  const known = state.inflight.find((each) => isSame(each, intent) && each.by === intent.by);
  if (known?.phase !== intent.phase) {
    return { state, notices: [] }; // another instance has seen the same, and was faster
  }
  const rest: State = { ...state, inflight: state.inflight.filter((each) => each !== known) };
  switch (end.is) {
    case 'open':
      return { state, notices: [] };
    case 'gone':
      return { state: rest, notices: [] };
    case 'adopted':
      return { state: patched(state, known, now), notices: [] };
    case 'undone':
      return { state: afterLostPatch(abandoned(state, known), known, now), notices: [] };
    case 'reverted':
      return repeated(
        rest,
        known,
        { why: 'its annotation was taken away by somebody else', isSilent: true },
        { config, now },
      );
    case 'failed':
      return failed(rest, known, end.why, config);
    case 'replaced':
      return afterReplacement(
        rest,
        known,
        { finding, ...(verification !== undefined && { verification }) },
        { config, now },
      );
  }
}

/** The next restart of the same workload may end in the same way. */
function noticeOf(intent: InFlight, reason: Notice['reason'], note: string): Notice {
  return { about: identityOf(intent), reason, note, occasion: stampOf(intent) };
}

function completed(state: State, intent: InFlight, verification: string | undefined): Settled {
  const note = `all pods are new after ${intent.attempt === 1 ? 'one restart' : `${intent.attempt} restarts`}`;
  return {
    state: counted(
      { ...state, verified: [...state.verified, ...(verification === undefined ? [] : [verification])] },
      `restarts_total{${intent.kind},completed}`,
    ),
    notices: [noticeOf(intent, 'RestartCompleted', note)],
  };
}

function requeued(state: State, intent: InFlight, more: Partial<Candidate> = {}): State {
  const item: Candidate = {
    ...identityOf(intent),
    ...standingOf(intent),
    fingerprint: intent.fingerprint,
    reason: 'again',
    pods: intent.pods,
    ...more,
  };
  return { ...state, queue: { ...state.queue, items: [...state.queue.items, item] } };
}

/** Whatever kept the patch from the API server may do so again. */
function afterLostPatch(state: State, intent: InFlight, now: number): State {
  const refusals = (intent.refusals ?? 0) + 1;
  return requeued(state, intent, { refusals, wait: { code: 'PatchLost', until: now + retryPauseMs(refusals) } });
}

/** Of pods that are evicted one by one the others have yet to go; only a replacement can tell that it did not help. */
function afterReplacement(
  state: State,
  intent: InFlight,
  { finding, verification }: Omit<Look, 'end'>,
  at: At,
): Settled {
  const { verdict } = finding ?? {};
  if (verdict?.fingerprint === undefined) {
    return completed(state, intent, verification);
  }
  const { pod, youngest = 0 } = intent;
  if (pod !== undefined && verdict.pod !== undefined && verdict.pod.createdAt <= youngest) {
    return { state: requeued(state, intent), notices: [] };
  }
  const why = `the new pods still differ: ${verdict.detail ?? ''}`;
  return repeated(state, intent, { why, isSilent: pod !== undefined }, at);
}

/**
 * One more try after the cooldown, unless that was the last: a restart that does not help must not go on for ever. Where
 * the workload itself is silent about it the state remembers the try.
 */
function repeated(
  state: State,
  intent: InFlight,
  { why, isSilent }: { readonly why: string; readonly isSilent: boolean },
  { config, now }: At,
): Settled {
  const { priority, isGateway } = intent;
  const isLast = intent.attempt >= config.MAX_ATTEMPTS;
  const blocked: Blocked = {
    ...identityOf(intent),
    reason: isLast ? 'Ineffective' : 'Repeat',
    priority,
    isGateway,
    fingerprint: intent.fingerprint,
    ...(isSilent && { attempts: intent.attempt }),
    ...(isLast ? {} : { nextAt: Math.max(now, intent.intentAt + config.COOLDOWN) }),
  };
  return {
    state: counted(
      { ...state, blocked: [...without(state.blocked, intent), blocked] },
      `restarts_total{${intent.kind},ineffective}`,
    ),
    notices: isLast ? [noticeOf(intent, 'RestartIneffective', why)] : [],
  };
}

function failed(state: State, intent: InFlight, why: string, config: Config): Settled {
  const isCounted = config.FAILURE_THRESHOLD > 0; // else they would pile up for nothing
  const failures = isCounted ? [...state.pacing.failed, identityOf(intent)] : [];
  const isPause = isCounted && failures.length >= config.FAILURE_THRESHOLD;
  const paused = {
    reason: `${intent.kind} ${intent.namespace}/${intent.name}: ${why}`,
    configFingerprint: configFingerprint(state, config),
  };
  return {
    state: counted(
      {
        ...state,
        inflight: [...state.inflight, { ...intent, phase: 'Failed' }],
        pacing: { ...state.pacing, failed: failures, ...(isPause && { paused }) },
      },
      `restarts_total{${intent.kind},failed}`,
    ),
    notices: [noticeOf(intent, 'RestartFailed', isPause ? `${why}; the run pauses` : why)],
  };
}

function without(blocked: readonly Blocked[], intent: InFlight): readonly Blocked[] {
  return blocked.filter((each) => !isSame(each, intent));
}
