import type { Config, DriftCheck } from '../config.ts';
import { driftOf, fingerprintOf } from '../drift/compare.ts';
import type { Proxy } from '../drift/proxy.ts';
import { injectorsFor, unknownRevision } from '../mesh/select.ts';
import type { Mesh } from '../mesh/mesh.ts';
import type { Injector } from '../mesh/webhooks.ts';
import { bookkeeping } from '../names.ts';
import type { Expectation } from '../probe/prober.ts';
import type { Question } from '../probe/question.ts';
import type { State } from '../state/state.ts';
import type { Code } from './code.ts';
import type { Staffed } from './join.ts';
import type { PodView } from './pod.ts';
import { skipsNamespace } from './namespace.ts';
import { questionOf } from './template.ts';
import { thresholdOf } from './threshold.ts';
import { verificationOf, type Verified } from './verified.ts';
import { wishesOf } from './wishes.ts';
import type { Workload } from './workload.ts';

/** What is known when workloads are judged. */
export interface Knowledge {
  readonly config: Config;
  readonly mesh: Mesh;
  /** With the mesh remembered in it. */
  readonly state: State;
  readonly configFingerprint: string;
  /** The settings that scans depend on. */
  readonly settings: string;
  readonly verified: Verified;
}

export interface Verdict {
  readonly code: Code;
  /** The first live pod that says so. */
  readonly pod?: PodView;
  /** More about the code: what drifted, which revision is unknown, why a probe failed. */
  readonly detail?: string;
  readonly expected?: Proxy | undefined;
  /** Names what a restart would bring; given where one would change something. */
  readonly fingerprint?: string;
  readonly revision?: string;
  /** Where an injector has said so, or had: what its word depends on. */
  readonly key?: string;
  /** It said so before and nothing has changed since; the details are where they were told. */
  readonly isKnown?: true;
}

/** Only the injector knows. */
export interface Open {
  readonly key: string;
  readonly injectors: readonly Injector[];
  readonly question: Question;
}

/** What can be said of a workload without asking anybody. Whether a restart of ours helped no age can tell. */
export function judgeAlone(staffed: Staffed, knowledge: Knowledge, isRestarted = isMarked(staffed)): Verdict | Open {
  const { workload, current, older } = staffed;
  const { config, mesh } = knowledge;
  const namespace = mesh.namespaces[workload.namespace];
  if (skipsNamespace(workload.namespace, namespace, config)) {
    return { code: 'NamespaceSkipped' };
  }
  if (namespace === undefined || namespace.isGone) {
    return { code: 'NamespaceGone' };
  }
  const judged = judgedPods(staffed);
  if (judged.length === 0) {
    return { code: current.length + older.length === 0 ? 'NoPods' : 'RolloutInProgress' };
  }
  const judgement = judgeInjection(staffed, judged, knowledge);
  return 'injectors' in judgement && !isRestarted && areFresh(judged, judgement, staffed.workload, knowledge)
    ? { code: 'Fresh', ...firstOf(judged) }
    : judgement;
}

function isMarked({ workload }: Staffed): boolean {
  return workload.annotations[bookkeeping.attempts] !== undefined;
}

/** Pods of an older template are being replaced already, unless something holds them back. */
export function judgedPods({ workload, current, older }: Staffed): readonly PodView[] {
  if (workload.hold !== undefined) {
    return [...current, ...older].sort((a, b) => a.createdAt - b.createdAt); // the oldest is the first to be evicted
  }
  return workload.isObserved ? current : [];
}

function judgeInjection(staffed: Staffed, judged: readonly PodView[], knowledge: Knowledge): Verdict | Open {
  const { mesh } = knowledge;
  const { workload } = staffed;
  const question = questionOf(staffed);
  const labels = mesh.namespaces[workload.namespace]?.labels ?? {};
  const all = Object.values(mesh.webhooks).flatMap(({ injectors }) => injectors);
  const injectors = injectorsFor(all, labels, question.labels);
  if (injectors.length === 0) {
    const unknown = unknownRevision(Object.values(mesh.webhooks), labels, question.labels);
    return unknown === undefined
      ? uninjected(judged)
      : { code: 'UnknownRevision', detail: unknown, ...firstOf(judged) };
  }
  const key = verificationOf(staffed, injectors, knowledge);
  const code = knowledge.verified.get(key);
  return code === undefined ? { key, injectors, question } : { code, key, isKnown: true, ...firstOf(judged) };
}

function uninjected(judged: readonly PodView[]): Verdict {
  const orphan = judged.find(({ proxy }) => proxy !== undefined);
  return orphan === undefined ? { code: 'NoInjector' } : { code: 'OrphanSidecar', pod: orphan };
}

/** A pod without a sidecar is never fresh, however young: it may be what is wrong. */
function areFresh(
  judged: readonly PodView[],
  { injectors }: Open,
  { namespace }: Workload,
  { config, state }: Knowledge,
): boolean {
  const [injector] = injectors;
  if (injector === undefined || injectors.length > 1) {
    return false;
  }
  const threshold = thresholdOf(state, injector, { namespace, readDelayMs: config.ISTIOD_CONFIG_READ_DELAY });
  return (
    threshold !== undefined &&
    judged.every(
      ({ createdAt, proxy }) =>
        createdAt >= threshold && proxy?.revision !== undefined && proxy.revision === injector.revision,
    )
  );
}

function firstOf([pod]: readonly PodView[]): { readonly pod?: PodView } {
  return pod === undefined ? {} : { pod };
}

/** The same with what the injector says. */
export function judgeAnswered(
  staffed: Staffed,
  { key, injectors }: Open,
  answer: Expectation,
  knowledge: Knowledge,
): Verdict {
  const revision = injectors[0]?.revision;
  const about = { key, ...(revision !== undefined && { revision }) };
  if ('failed' in answer) {
    return { code: 'ProbeFailed', detail: answer.failed, ...about };
  }
  if ('denied' in answer) {
    return { code: 'ConfigInvalid', detail: answer.denied, ...about };
  }
  return { ...about, ...compare(staffed, answer.proxy, knowledge) };
}

function compare(staffed: Staffed, expected: Proxy | undefined, { config, mesh }: Knowledge): Verdict {
  const { workload, older } = staffed;
  const judged = judgedPods(staffed);
  const drift = firstDrift(judged, expected, config);
  const held = workload.partition > 0 ? firstDrift(older, expected, config) : undefined;
  const found = drift ?? held;
  if (found === undefined) {
    return { code: expected === undefined ? 'NotExpected' : 'Current', ...firstOf(judged), expected };
  }
  const fingerprint =
    drift === undefined || workload.hold === 'Partitioned' ? undefined : fingerprintOf(expected, config.DRIFT_CHECKS);
  const { policy } = wishesOf(workload, mesh.namespaces[workload.namespace], config);
  const code = policy === 'auto' ? codeOfDrift(staffed, fingerprint, config) : 'OptedOut';
  return { code, ...found, expected, ...(fingerprint !== undefined && { fingerprint }) };
}

function codeOfDrift(
  { workload }: Staffed,
  fingerprint: string | undefined,
  { MAX_ATTEMPTS, ON_DELETE_ACTION, UNMANAGED_ACTION }: Config,
): Code {
  if (fingerprint === undefined) {
    return 'Partitioned'; // a restart would not reach what differs
  }
  const isBare = workload.kind === 'ReplicaSet' || workload.kind === 'ReplicationController';
  const evicts = (isBare ? UNMANAGED_ACTION : ON_DELETE_ACTION) === 'evict';
  if (workload.hold === 'Paused' || (workload.hold === 'OnDelete' && !evicts)) {
    return workload.hold;
  }
  return attemptsOf(workload.annotations, fingerprint) >= MAX_ATTEMPTS ? 'Ineffective' : 'Outdated';
}

/** How often a workload was restarted already for the same expected proxy. */
export function attemptsOf(annotations: Readonly<Record<string, string>>, fingerprint: string): number {
  const { [bookkeeping.fingerprint]: last, [bookkeeping.attempts]: attempts } = annotations;
  return last === fingerprint && attempts !== undefined && /^\d{1,6}$/.test(attempts) ? Number(attempts) : 0;
}

function firstDrift(
  judged: readonly PodView[],
  expected: Proxy | undefined,
  { DRIFT_CHECKS, COMPARE_HUB, REMOVE_SIDECARS }: Config,
): { readonly pod: PodView; readonly detail: DriftCheck | 'unexpected' } | undefined {
  for (const pod of judged) {
    if (expected === undefined) {
      if (REMOVE_SIDECARS && pod.proxy !== undefined) {
        return { pod, detail: 'unexpected' };
      }
      continue;
    }
    const detail = driftOf(pod.proxy, expected, { checks: DRIFT_CHECKS, compareHub: COMPARE_HUB });
    if (detail !== undefined) {
      return { pod, detail };
    }
  }
  return undefined;
}
