import type { Config } from '../config.ts';
import { attemptsOf } from '../scan/judge.ts';
import type { Finding } from '../scan/scan.ts';
import {
  identityOf,
  isSame,
  type Blocked,
  type Candidate,
  type Identity,
  type InFlight,
  type State,
  type Wait,
} from '../state/state.ts';
import { hasRoom } from './wave.ts';

/** The restart that a finding calls for. */
export function intentOf(
  candidate: Candidate,
  { staffed: { workload }, verdict }: Finding,
  { config, now, by }: { readonly config: Config; readonly now: number; readonly by: string },
): InFlight {
  const fingerprint = verdict.fingerprint ?? '';
  const remembered = candidate.fingerprint === fingerprint ? (candidate.attempts ?? 0) : 0;
  const intentAt = Math.floor(now / 1000) * 1000; // what the annotation can tell
  const isEvicted = workload.hold === 'OnDelete';
  return {
    ...identityOf(workload),
    fingerprint,
    by,
    attempt: Math.max(remembered, attemptsOf(workload.annotations, fingerprint)) + 1,
    intentAt,
    deadline: intentAt + config.ROLLOUT_TIMEOUT,
    pods: isEvicted ? 1 : workload.replicas,
    phase: 'Intent',
    ...(isEvicted && verdict.pod && { pod: { name: verdict.pod.name, uid: verdict.pod.uid } }),
  };
}

/** The state with the intent in it; unchanged if somebody else was faster or there is no room any more. */
export function begun(state: State, intent: InFlight, config: Config): State {
  const isQueued = state.queue.items.some((item) => isSame(item, intent));
  const isUnderWay = state.inflight.some((each) => isSame(each, intent));
  const isPaced = paceEnd(state, config) <= intent.intentAt + 999;
  if (
    !isQueued ||
    isUnderWay ||
    !isPaced ||
    state.pacing.paused !== undefined ||
    !hasRoom(state.inflight, intent, intent.pods, config)
  ) {
    return state;
  }
  return {
    ...withoutCandidate(state, intent),
    inflight: [...state.inflight, intent],
    pacing: { ...state.pacing, lastPatchAt: intent.intentAt },
  };
}

/** When the next restart may begin. */
export function paceEnd({ pacing: { lastPatchAt } }: State, { RESTART_DELAY }: Config): number {
  return lastPatchAt === undefined || RESTART_DELAY === 0 ? 0 : lastPatchAt + RESTART_DELAY;
}

export function isBegun({ inflight }: State, { uid, by }: InFlight): boolean {
  return inflight.some((each) => each.uid === uid && each.by === by);
}

export function patched(state: State, intent: InFlight): State {
  return {
    ...state,
    inflight: state.inflight.map((each) => (isSame(each, intent) ? { ...each, phase: 'Patched' as const } : each)),
  };
}

/** What is to be done with a candidate that is not restarted now. */
export type Aside =
  { readonly drop: true } | { readonly wait: Wait } | { readonly block: Omit<Blocked, keyof Identity> };

/** The state without an intent that came to nothing. */
export function abandoned(state: State, intent: InFlight): State {
  const inflight = state.inflight.filter((each) => !(each.uid === intent.uid && each.by === intent.by));
  return { ...state, inflight };
}

/** The state with a candidate put aside; as it was if somebody else restarts it meanwhile. */
export function putAside(state: State, candidate: Candidate, aside: Aside): State {
  if (state.inflight.some((each) => isSame(each, candidate))) {
    return state;
  }
  const rest = withoutCandidate(state, candidate);
  if ('drop' in aside) {
    return rest;
  }
  if ('wait' in aside) {
    return { ...rest, queue: { ...rest.queue, items: [...rest.queue.items, { ...candidate, wait: aside.wait }] } };
  }
  return {
    ...rest,
    blocked: [...rest.blocked.filter((each) => !isSame(each, candidate)), { ...identityOf(candidate), ...aside.block }],
  };
}

/** Candidates whose time has come again, back in the queue. */
export function woken(state: State, now: number): State {
  const due = state.blocked.filter(({ nextAt }) => nextAt !== undefined && nextAt <= now);
  if (due.length === 0) {
    return state;
  }
  const items = due.map((each): Candidate => ({
    ...identityOf(each),
    reason: each.reason,
    priority: 0,
    isGateway: false,
    ...(each.fingerprint !== undefined && { fingerprint: each.fingerprint }),
    ...(each.attempts !== undefined && { attempts: each.attempts }),
    ...(each.refusals !== undefined && { refusals: each.refusals }),
  }));
  return {
    ...state,
    blocked: state.blocked.filter((each) => !due.includes(each)),
    queue: { ...state.queue, items: [...state.queue.items, ...items] },
  };
}

function withoutCandidate(state: State, { uid }: { readonly uid: string }): State {
  return { ...state, queue: { ...state.queue, items: state.queue.items.filter((item) => item.uid !== uid) } };
}
