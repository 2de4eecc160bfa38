import type { Config } from '../config.ts';
import { lastingCodes, type Code } from './code.ts';
import { attemptsOf, type Knowledge, type Verdict } from './judge.ts';
import { lastStamp } from '../restart/steps.ts';
import { podsAtOnce } from '../restart/wave.ts';
import { bookkeeping } from '../names.ts';
import {
  identityOf,
  passingMs,
  type Blocked,
  type Candidate,
  type Identity,
  type InFlight,
  type Wait,
} from '../state/state.ts';
import type { Finding } from './scan.ts';
import { wishesOf } from './wishes.ts';
import type { Workload } from './workload.ts';

/** What a finding puts into the queue: what is outdated, and what has to be looked at again. */
export function candidateOf(
  { staffed, verdict }: Finding,
  { config, mesh }: Knowledge,
  now: number,
): Candidate | undefined {
  const { workload } = staffed;
  const wait = waitFor(verdict.code, now);
  if (verdict.code !== 'Outdated' && wait === undefined) {
    return undefined;
  }
  const { priority } = wishesOf(workload, mesh.namespaces[workload.namespace], config);
  return {
    ...identityOf(workload),
    ...(verdict.fingerprint !== undefined && { fingerprint: verdict.fingerprint }),
    reason: verdict.detail ?? verdict.code,
    priority,
    isGateway: isGateway(workload),
    pods: podsAtOnce(workload),
    ...(wait && { wait }),
  };
}

/** Paused workloads are looked at in every pass, rollouts by others when they may be over. */
function waitFor(code: Code, now: number): Wait | undefined {
  if (code === 'RolloutInProgress') {
    return { code, until: now + passingMs };
  }
  return code === 'Paused' ? { code } : undefined;
}

export function isGateway({ template }: Workload): boolean {
  return (
    template.annotations['inject.istio.io/templates']?.split(',').some((name) => name.trim() === 'gateway') ?? false
  );
}

/** Left alone until something changes: told once. */
export function blockedOf({ staffed, verdict }: Finding): Blocked | undefined {
  const block = blockOf(verdict);
  return block === undefined ? undefined : { ...identityOf(staffed.workload), ...block };
}

/** Why it is left alone, and for how long the reason stays the same. */
export function blockOf({ code, fingerprint, detail }: Verdict): Omit<Blocked, keyof Identity> | undefined {
  if (!lastingCodes.has(code)) {
    return undefined;
  }
  return {
    reason: code,
    ...(fingerprint !== undefined && { fingerprint }),
    ...(code === 'UnknownRevision' && detail !== undefined && { revision: detail }),
  };
}

/** A restart of ours that is under way although nothing remembers it. */
export function recoveredOf(
  workload: Workload,
  { RESTART_ANNOTATION, ROLLOUT_TIMEOUT }: Config,
  now: number,
): InFlight | undefined {
  const intentAt = Date.parse(lastStamp(workload, RESTART_ANNOTATION) ?? '');
  const fingerprint = workload.annotations[bookkeeping.fingerprint];
  if (!(intentAt > now - ROLLOUT_TIMEOUT) || workload.progress === 'settled' || fingerprint === undefined) {
    return undefined;
  }
  return {
    ...identityOf(workload),
    fingerprint,
    priority: 0,
    isGateway: isGateway(workload),
    by: 'found',
    attempt: attemptsOf(workload.annotations, fingerprint),
    intentAt,
    deadline: intentAt + ROLLOUT_TIMEOUT,
    pods: workload.replicas,
    phase: 'Patched',
  };
}
