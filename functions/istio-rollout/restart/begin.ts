import type { Config } from '../config.ts';
import { attemptsOf, judgedPods } from '../scan/judge.ts';
import type { PodView } from '../scan/pod.ts';
import type { Finding } from '../scan/scan.ts';
import {
  identityOf,
  isRemembered,
  isSame,
  isUnderWay,
  standingOf,
  type Blocked,
  type Candidate,
  type Identity,
  type InFlight,
  type Queue,
  type Standing,
  type State,
  type Wait,
} from '../state/state.ts';
import { hasRoom, podsAtOnce } from './wave.ts';

/** The restart that a finding calls for. */
export function intentOf(
  candidate: Candidate,
  { staffed, verdict }: Finding,
  { config, now, by }: { readonly config: Config; readonly now: number; readonly by: string },
): InFlight {
  const { workload } = staffed;
  const fingerprint = verdict.fingerprint ?? '';
  const standing = candidate.fingerprint === fingerprint ? standingOf(candidate) : newcomer(candidate);
  const intentAt = Math.floor(now / 1000) * 1000; // what the annotation can tell
  return {
    ...identityOf(workload),
    ...standing,
    fingerprint,
    by,
    attempt: Math.max(standing.attempts ?? 0, attemptsOf(workload.annotations, fingerprint)) + 1,
    intentAt,
    deadline: intentAt + config.ROLLOUT_TIMEOUT,
    pods: podsAtOnce(workload),
    phase: 'Intent',
    ...(workload.hold === 'OnDelete' && evictionOf(staffed, verdict.pod, standing)),
  };
}

/** What was tried for another proxy says nothing about this one. */
function newcomer({ priority, isGateway }: Candidate): Standing {
  return { priority, isGateway };
}

/** One pod at a time; those that are younger than all that were there at first are its replacements. */
function evictionOf(
  staffed: Finding['staffed'],
  pod: PodView | undefined,
  { youngest }: Standing,
): Partial<Pick<InFlight, 'pod' | 'youngest'>> {
  return {
    youngest: youngest ?? Math.max(...judgedPods(staffed).map(({ createdAt }) => createdAt)),
    ...(pod && { pod: { name: pod.name, uid: pod.uid } }),
  };
}

/** The state with the intent in it; unchanged if somebody else was faster or there is no room any more. */
export function begun(
  state: State,
  intent: InFlight,
  { config, now }: { readonly config: Config; readonly now: number },
): State {
  const isQueued = state.queue.items.some((item) => isSame(item, intent));
  const isPaced = paceEnd(state, config) <= now;
  if (
    !isQueued ||
    isUnderWay(state, intent) ||
    !isPaced ||
    state.pacing.paused !== undefined ||
    !hasRoom(state.inflight, intent, intent.pods, config)
  ) {
    return state;
  }
  const mends = state.inflight.find((each) => isSame(each, intent));
  return {
    ...withoutCandidate(state, intent),
    inflight: [...state.inflight.filter((each) => each !== mends), { ...intent, ...(mends && { mends }) }],
  };
}

/** Later than this no patch is sent for an intent: it may take its time, and must not arrive after it counts as lost. */
export const sentWithinMs = 10_000;

/** When the next restart may begin. A patch that nobody has confirmed may be made until the last moment. */
export function paceEnd({ pacing: { lastPatchAt }, inflight }: State, { RESTART_DELAY }: Config): number {
  const unsent = inflight.filter(({ phase }) => phase === 'Intent').map(({ intentAt }) => intentAt + sentWithinMs);
  const last = Math.max(lastPatchAt ?? 0, ...unsent);
  return last === 0 || RESTART_DELAY === 0 ? 0 : last + RESTART_DELAY;
}

export function isBegun({ inflight }: State, { uid, by }: InFlight): boolean {
  return inflight.some((each) => each.uid === uid && each.by === by);
}

/**
 * The restart was made, so it is under way, even if another instance took its intent for lost meanwhile and put the
 * workload back into the queue: the patch of anybody else would fail on it.
 */
export function patched(state: State, intent: InFlight, now: number): State {
  const known = state.inflight.find((each) => isSame(each, intent));
  if (known !== undefined && known.by !== intent.by && known.phase === 'Patched') {
    return state;
  }
  const others = state.inflight.filter((each) => each !== known);
  const { mends: _mends, ...made } = intent;
  return {
    ...withoutCandidate(state, intent),
    inflight: [...others, { ...made, phase: 'Patched' }],
    pacing: { ...state.pacing, lastPatchAt: now },
  };
}

/** What is to be done with a candidate that is not restarted now. */
export type Aside =
  | { readonly drop: true }
  | ({ readonly wait: Wait } & Pick<Candidate, 'refusals' | 'pods'>)
  | { readonly block: Omit<Blocked, keyof Identity>; readonly note: string };

/** The state without an intent that came to nothing; what it was to mend is as broken as before. */
export function abandoned(state: State, { uid, by }: InFlight): State {
  const inflight = state.inflight.flatMap((each) => (each.uid === uid && each.by === by ? (each.mends ?? []) : each));
  return { ...state, inflight };
}

/** The state with a candidate put aside; as it was if somebody else restarts it meanwhile. */
export function putAside(state: State, candidate: Candidate, aside: Aside): State {
  if (isUnderWay(state, candidate)) {
    return state;
  }
  const rest = withoutCandidate(state, candidate);
  if ('drop' in aside) {
    return rest;
  }
  if ('wait' in aside) {
    return { ...rest, queue: { ...rest.queue, items: [...rest.queue.items, { ...candidate, ...aside }] } };
  }
  const blocked = { ...identityOf(candidate), ...standingOf(candidate), ...aside.block };
  return { ...rest, blocked: [...rest.blocked.filter((each) => !isSame(each, candidate)), blocked] };
}

/** The state with what a pass puts aside; as it was if the candidates were found under something else than these. */
export function putAllAside(
  state: State,
  asides: ReadonlyMap<Candidate, Aside>,
  foundUnder: Queue['configFingerprint'],
): State {
  return state.queue.configFingerprint === foundUnder
    ? [...asides].reduce((next, [candidate, aside]) => putAside(next, candidate, aside), state)
    : state;
}

/** Candidates whose time has come again, back in the queue. */
export function woken(state: State, now: number): State {
  const due = state.blocked.filter(({ nextAt }) => nextAt !== undefined && nextAt <= now);
  if (due.length === 0) {
    return state;
  }
  const items = due.map((each): Candidate => ({
    ...identityOf(each),
    ...standingOf(each),
    reason: each.reason,
    ...(each.fingerprint !== undefined && { fingerprint: each.fingerprint }),
  }));
  return {
    ...state,
    blocked: state.blocked.filter((each) => !due.includes(each)),
    queue: { ...state.queue, items: [...state.queue.items, ...items] },
  };
}

/** The state with another series of tries for what it alone calls in vain; what a workload says of itself stays. */
export function reconsidered(
  state: State,
  { namespaces }: { readonly namespaces?: readonly string[] },
  now: number,
): State {
  const blocked = state.blocked.map((each) => {
    const isMeant = namespaces === undefined || namespaces.includes(each.namespace);
    const isVain = each.reason === 'Ineffective' && isRemembered(each);
    return isMeant && isVain ? { ...each, reason: 'Repeat', attempts: 0, nextAt: now } : each;
  });
  return { ...state, blocked };
}

function withoutCandidate(state: State, { uid }: { readonly uid: string }): State {
  return { ...state, queue: { ...state.queue, items: state.queue.items.filter((item) => item.uid !== uid) } };
}
