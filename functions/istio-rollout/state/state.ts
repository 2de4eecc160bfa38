import type { ControlPlane } from '../mesh/control-plane.ts';
import type { WebhookSet } from '../mesh/webhooks.ts';
import type { WorkloadKind } from '../scan/kinds.ts';

/**
 * What is remembered between passes: a log of intents and a cache. Losing it costs a scan, never a wrong restart.
 * All times are milliseconds.
 */
export interface State {
  /** By `namespace/name` of the ConfigMap. */
  readonly controlPlanes: Readonly<Record<string, KnownControlPlane>>;
  readonly meshConfigs: Readonly<Record<string, Known>>;
  /** By name of the MutatingWebhookConfiguration. */
  readonly webhooks: Readonly<Record<string, KnownWebhooks>>;
  readonly namespaces: Readonly<Record<string, Known>>;
  readonly pending?: Pending;
  readonly queue: Queue;
  readonly inflight: readonly InFlight[];
  readonly blocked: readonly Blocked[];
  readonly pacing: Pacing;
  /** Workloads that were found to be current; see `verificationOf`. */
  readonly verified: readonly string[];
  /** Monotonic totals, `name{label}` → count. */
  readonly counters: Readonly<Record<string, number>>;
}

/** The content of an object, and since when it has been so. */
export interface Known {
  readonly hash: string;
  readonly changedAt: number;
}

export interface KnownControlPlane extends ControlPlane {
  /** istiod was seen to inject what the ConfigMap says. */
  readonly isConfirmed?: boolean;
}

export type KnownWebhooks = Omit<WebhookSet, 'injectors'>;

/** A scan that has to be made. */
export interface Pending {
  /** Absent: all. */
  readonly namespaces?: readonly string[];
  readonly reasons: readonly string[];
  readonly firstAt: number;
  readonly dueAt: number;
  /** How many triggers have joined: tells whether one came during a scan. */
  readonly triggers: number;
  /** Scans that could not ask all injectors. */
  readonly attempts: number;
  readonly lastError?: string;
}

export interface Identity {
  readonly kind: WorkloadKind;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

export interface Queue {
  /** What the candidates were found under; under anything else they mean nothing. */
  readonly configFingerprint: string;
  readonly items: readonly Candidate[];
}

/** A workload that should be restarted. */
export interface Candidate extends Identity {
  /** Absent where the workload could not be judged yet, such as amid a rollout. */
  readonly fingerprint?: string;
  readonly reason: string;
  readonly priority: number;
  readonly isGateway: boolean;
  /** Restarts of which the workload itself tells nothing, since somebody took the annotations away. */
  readonly attempts?: number;
  /** How often the API server refused the restart. */
  readonly refusals?: number;
  readonly wait?: Wait;
  /** Which ConfigMap holds it; absent until it is written. */
  readonly part?: number;
}

export interface Wait {
  readonly code: string;
  /** When to look again. Absent: in every pass. */
  readonly until?: number;
}

/** A restart that was decided upon and has not ended. */
export interface InFlight extends Identity {
  readonly fingerprint: string;
  /** The pass that decided it. */
  readonly by: string;
  readonly attempt: number;
  readonly intentAt: number;
  readonly deadline: number;
  readonly pods: number;
  readonly phase: 'Intent' | 'Patched';
  /** The one pod that is evicted, where the workload does not replace pods by itself. */
  readonly pod?: { readonly name: string; readonly uid: string };
}

/** A workload that is left alone, and why. */
export interface Blocked extends Identity {
  readonly reason: string;
  readonly fingerprint?: string;
  /** As in a candidate. */
  readonly attempts?: number;
  readonly refusals?: number;
  /** When it goes back to the queue. Absent: not before a scan finds it again. */
  readonly nextAt?: number;
}

export interface Pacing {
  readonly lastPatchAt?: number;
  readonly lastFullScanAt?: number;
  readonly runId?: string;
  readonly startedAt?: number;
  readonly trigger?: string;
  /** Rollouts of this run that failed. */
  readonly failed: readonly Identity[];
  readonly paused?: { readonly reason: string; readonly configFingerprint: string };
}

export const emptyState: State = {
  controlPlanes: {},
  meshConfigs: {},
  webhooks: {},
  namespaces: {},
  queue: { configFingerprint: '', items: [] },
  inflight: [],
  blocked: [],
  pacing: { failed: [] },
  verified: [],
  counters: {},
};

export function isSame(a: Identity, b: Identity): boolean {
  return a.uid === b.uid;
}

export function identityOf({ kind, namespace, name, uid }: Identity): Identity {
  return { kind, namespace, name, uid };
}

/** Adds to the totals that metrics show. */
export function counted(state: State, ...names: readonly string[]): State {
  const counters = { ...state.counters };
  for (const name of names) {
    counters[name] = (counters[name] ?? 0) + 1;
  }
  return { ...state, counters };
}
