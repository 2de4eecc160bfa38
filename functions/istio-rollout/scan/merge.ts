import { formatInstant } from '../../../lib/time/instant.ts';
import { remember, scopeOfChange, withScope, type Scope } from '../mesh/remember.ts';
import { retryPauseMs, configFingerprint, isSameTrigger, named, settingsFingerprint } from '../state/pending.ts';
import {
  counted,
  isRemembered,
  isSame,
  isUnderWay,
  type Blocked,
  type Candidate,
  type InFlight,
  type KnownControlPlane,
  type Pending,
  type State,
} from '../state/state.ts';
import type { Code } from './code.ts';
import { blockedOf, candidateOf, recoveredOf } from './outcome.ts';
import type { Verdict } from './judge.ts';
import type { Scan } from './scan.ts';
import { keyOf, verifiedText } from './verified.ts';

export interface Merge {
  readonly scan: Scan;
  /** What the scan was for. */
  readonly pending: Pending;
  readonly now: number;
  /** There was no state before: what is under way has to be found in the cluster. */
  readonly wasLost: boolean;
}

/** The state after a scan. Whatever was found in the scanned namespaces before gives way. */
export function mergeScan(before: State, merge: Merge): State {
  const { scan, now, wasLost } = merge;
  const { config } = scan.knowledge;
  const known = withConfirmations(remember(before, scan.knowledge.mesh, now), scan);
  const unscanned = unscannedScope(before, known, merge);
  const isOutrun = unscanned.all.length > 0; // what was found meanwhile means nothing
  const inflight = wasLost ? recovered(known, scan, now) : known.inflight;
  const blocked = mergeBlocked(known.blocked, scan);
  const stopped = new Set(blocked.map(({ uid }) => uid));
  const items = (isOutrun ? [] : mergeQueue(known.queue.items, merge)).filter(
    (item) => !isUnderWay({ inflight }, item) && !stopped.has(item.uid),
  );
  const queue = { configFingerprint: configFingerprint(known, config), items };
  const verified = isOutrun ? [] : mergeVerified(known.verified, scan);
  const omitted = scan.namespaces === undefined ? {} : known.omitted; // a full scan has found all again
  const scanned = withPending({ ...known, inflight, blocked, queue, verified, omitted }, merge);
  const next = withScope(scanned, unscanned, now, config);
  return withCounts({ ...next, pacing: pacingOf(next, known, merge) }, merge);
}

/** What changed since the scan was called for, and it has not seen or istiod need not have. At first all is news. */
function unscannedScope(before: State, known: State, { scan, wasLost }: Merge): Scope {
  const { all, namespaces } = wasLost ? { all: [], namespaces: [] } : scopeOfChange(before, known);
  return { all, namespaces: namespaces.filter((name) => isOutside(scan, name)) };
}

/** What the state holds without pushing anything else out. */
const mostVerified = 10_000;
const mostBlocked = 1_000;

function isOutside({ namespaces }: Scan, namespace: string): boolean {
  return namespaces !== undefined && !namespaces.includes(namespace);
}

function mergeQueue(before: readonly Candidate[], { scan, now }: Merge): readonly Candidate[] {
  const failed = scan.findings.filter(({ verdict }) => verdict.code === 'ProbeFailed');
  const unsure = new Set(failed.map(({ staffed }) => staffed.workload.uid));
  const kept = before.filter(({ namespace, uid }) => isOutside(scan, namespace) || unsure.has(uid));
  const found = scan.findings.flatMap((finding) => candidateOf(finding, scan.knowledge, now) ?? []);
  const known = new Map(before.map((each) => [each.uid, each]));
  return [
    ...kept,
    ...found.map((candidate) => {
      const same = known.get(candidate.uid);
      const isStillOutdated = [undefined, same?.fingerprint].includes(candidate.fingerprint);
      return same !== undefined && isStillOutdated ? renewed(same, candidate) : candidate;
    }),
  ];
}

/** Waits whose end people can move, by a window, an exemption, an end of the freeze or of the dry run. */
const movable: ReadonlySet<string> = new Set(['Window', 'Cooldown', 'Frozen', 'DryRun']);

/** One that was found again goes on where it was; whether what it waited for still holds, the next pass asks anew. */
function renewed(before: Candidate, found: Candidate): Candidate {
  const wait = found.wait ?? before.wait;
  return {
    ...before,
    ...found,
    ...(wait && { wait: movable.has(wait.code) ? { code: wait.code } : wait }),
  };
}

/** Restarts that did not help are remembered for as long as the same restart would be tried again. */
function mergeBlocked(before: readonly Blocked[], scan: Scan): readonly Blocked[] {
  const verdicts = new Map(scan.findings.map(({ staffed, verdict }) => [staffed.workload.uid, verdict]));
  const kept = before.filter(
    (each) => isOutside(scan, each.namespace) || (isRemembered(each) && isStill(each, verdicts.get(each.uid))),
  );
  const known = new Set(kept.map(({ uid }) => uid));
  const told = new Map(before.map((each) => [`${each.uid} ${each.reason}`, each]));
  const found = scan.findings
    .flatMap((finding) => blockedOf(finding) ?? [])
    .filter(({ uid }) => !known.has(uid))
    .map(
      (each) => (verdicts.get(each.uid)?.isKnown === true ? told.get(`${each.uid} ${each.reason}`) : undefined) ?? each,
    );
  // What cannot be found out again goes last.
  return [...kept.filter(isRemembered), ...kept.filter((each) => !isRemembered(each)), ...found].slice(0, mostBlocked);
}

/** These say nothing about the proxy. That pods are young does not either: our own tries made them so. */
const silent: ReadonlySet<Code> = new Set(['Fresh', 'ProbeFailed', 'RolloutInProgress']);

/** Whether the same restart would be tried again, as far as one can tell. */
function isStill({ fingerprint }: Blocked, verdict: Verdict | undefined): boolean {
  return (
    verdict !== undefined &&
    (verdict.isKnown === true || silent.has(verdict.code) || verdict.fingerprint === fingerprint)
  );
}

/** A full scan knows all; a smaller one adds what it has seen. */
function mergeVerified(before: readonly string[], { namespaces, findings }: Scan): readonly string[] {
  const judged = findings.flatMap(({ verdict: { key, code } }) => (key === undefined ? [] : [{ key, code }]));
  const keys = new Set(judged.map(({ key }) => key));
  const kept = namespaces === undefined ? [] : before.filter((text) => !keys.has(keyOf(text)));
  const found = judged.flatMap(({ key, code }) => verifiedText(key, code) ?? []);
  return [...new Set([...kept, ...found])].sort().slice(0, mostVerified);
}

function recovered({ inflight }: State, { findings, knowledge: { config } }: Scan, now: number): readonly InFlight[] {
  const found = findings.flatMap(({ staffed }) => recoveredOf(staffed.workload, config, now) ?? []);
  return [...inflight, ...found.filter((each) => !inflight.some((known) => isSame(known, each)))];
}

function withConfirmations(state: State, { confirmed }: Scan): State {
  const controlPlanes = Object.fromEntries(
    Object.entries(state.controlPlanes).map(([ref, plane]) => [
      ref,
      { ...plane, ...confirmationOf(confirmed.get(plane.revision)) },
    ]),
  );
  return { ...state, controlPlanes };
}

function confirmationOf(confirmed: KnownControlPlane['confirmed']): Pick<KnownControlPlane, 'confirmed'> {
  return confirmed === undefined ? {} : { confirmed };
}

/** A trigger stays pending where injectors could not be asked, and where another came during the scan. */
function withPending(state: State, { scan, pending, now }: Merge): State {
  const failed = scan.findings.filter(({ verdict }) => verdict.code === 'ProbeFailed');
  const unsure = failed.map(({ staffed }) => staffed.workload.namespace);
  const { pending: latest, ...rest } = state;
  if (latest !== undefined && !isSameTrigger(latest, pending)) {
    const { namespaces, ...trigger } = latest;
    return namespaces === undefined
      ? state
      : { ...rest, pending: { ...trigger, ...named([...namespaces, ...unsure]) } };
  }
  if (failed.length === 0) {
    return rest;
  }
  const attempts = pending.attempts + 1;
  const late = (pending.late ?? 0) + (scan.isLate ? 1 : 0);
  const lastError = (failed[0]?.verdict.detail ?? '').slice(0, 200);
  return {
    ...rest,
    pending: { ...pending, ...named(unsure), attempts, late, dueAt: now + retryPauseMs(attempts), lastError },
  };
}

function pacingOf(next: State, before: State, { scan, pending, now }: Merge): State['pacing'] {
  const { pacing } = before;
  const wasIdle = before.queue.items.length === 0 && before.inflight.every(({ phase }) => phase === 'Failed');
  const begins = wasIdle && next.queue.items.length > 0;
  return {
    ...pacing,
    ...(scan.namespaces === undefined && {
      lastFullScanAt: now,
      ...(scan.findings.some(({ verdict }) => verdict.isKnown === true) ? {} : { lastAskedAllAt: now }),
      scannedWith: settingsFingerprint(scan.knowledge.config),
    }),
    ...(begins && pacing.paused === undefined
      ? { runId: formatInstant(now), trigger: pending.reasons.join(', '), failed: [] }
      : {}),
  };
}

function withCounts(state: State, { scan, pending }: Merge): State {
  const trigger = pending.reasons[0]?.split(' ')[0] ?? 'unknown';
  const skipped = scan.findings.map(({ verdict }) => `skipped_total{${verdict.code}}`);
  return counted(state, `scans_total{${trigger}}`, ...skipped.filter((name) => name !== 'skipped_total{Outdated}'));
}
