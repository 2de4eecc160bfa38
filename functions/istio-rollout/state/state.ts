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
  /** What injectors have said of workloads that stay as they are; see `verificationOf`. */
  readonly verified: readonly string[];
  /** Monotonic totals, `name{label}` → count. */
  readonly counters: Readonly<Record<string, number>>;
  /** What the ConfigMaps had no room for since it was last found. */
  readonly omitted: Omitted;
}

/** How many are missing of what a state can do without for a while. */
export type Omitted = Readonly<Partial<Record<'blocked' | 'namespaces' | 'queue' | 'verified', number>>>;

/** The content of an object, and since when it has been so. */
export interface Known {
  readonly hash: string;
  readonly changedAt: number;
}

export interface KnownControlPlane extends ControlPlane {
  /** istiod was `seen` to inject what the ConfigMap says, or is `trusted` although it injects something else. */
  readonly confirmed?: 'seen' | 'trusted';
}

export type KnownWebhooks = Omit<WebhookSet, 'injectors'>;

/** A scan that has to be made. */
export interface Pending {
  /** Absent: all. */
  readonly namespaces?: readonly string[];
  readonly reasons: readonly string[];
  readonly firstAt: number;
  readonly dueAt: number;
  /** How many triggers have joined: tells, together with `firstAt`, whether one came during a scan. */
  readonly triggers: number;
  /** Scans that could not ask all injectors. */
  readonly attempts: number;
  /** Those of them in which an istiod had not read its ConfigMap yet. */
  readonly late?: number;
  readonly lastError?: string;
}

export interface Identity {
  readonly kind: WorkloadKind;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

/** How a workload stands in the queue. It keeps this while it is restarted or left alone, to come back as it went. */
export interface Standing {
  readonly priority: number;
  readonly isGateway: boolean;
  /** Restarts of which the workload itself tells nothing: evictions, and what somebody took the annotations away from. */
  readonly attempts?: number;
  /** How often the restart could not be made: it was refused, or lost on its way. */
  readonly refusals?: number;
  /** While its pods are evicted one by one: when the youngest of those that have to go was made. */
  readonly youngest?: number;
}

export interface Queue {
  /** What the candidates were found under; under anything else they mean nothing. */
  readonly configFingerprint: string;
  readonly items: readonly Candidate[];
}

/** A workload that should be restarted. */
export interface Candidate extends Identity, Standing {
  /** Absent where the workload could not be judged yet, such as amid a rollout. */
  readonly fingerprint?: string;
  readonly reason: string;
  /** How many a restart would put in flight, when that was last looked at. */
  readonly pods?: number;
  readonly wait?: Wait;
  /** Which ConfigMap holds it; absent until it is written. */
  readonly part?: number;
}

export interface Wait {
  readonly code: string;
  /** When to look again. Absent: in every pass. */
  readonly until?: number;
}

/** How long to wait for what passes by itself, such as a rollout by others or trouble of the API server. */
export const passingMs = 30_000;

/** A restart that was decided upon and whose pods are not all new and available. */
export interface InFlight extends Identity, Standing {
  readonly fingerprint: string;
  /** The pass that decided it. */
  readonly by: string;
  readonly attempt: number;
  readonly intentAt: number;
  readonly deadline: number;
  readonly pods: number;
  /** One that failed keeps its place in the wave until its workload has recovered. */
  readonly phase: 'Intent' | 'Patched' | 'Failed';
  /** The one pod that is evicted, where the workload does not replace pods by itself. */
  readonly pod?: { readonly name: string; readonly uid: string };
  /** While it is an intent: the restart that failed and that this one may mend. It stands again if nothing comes of this. */
  readonly mends?: InFlight;
}

/** A workload that is left alone, and why. */
export interface Blocked extends Identity, Partial<Standing> {
  readonly reason: string;
  readonly fingerprint?: string;
  /** The one that nobody knows. */
  readonly revision?: string;
  /** When it goes back to the queue. Absent: not before a scan finds it again. */
  readonly nextAt?: number;
}

/** Nothing but the state tells how often this was tried. */
export function isRemembered({ attempts, refusals }: Blocked): boolean {
  return attempts !== undefined || refusals !== undefined;
}

export interface Pacing {
  readonly lastPatchAt?: number;
  readonly lastFullScanAt?: number;
  /** When a full scan last took nothing from memory that injectors had said before. */
  readonly lastAskedAllAt?: number;
  /** The settings of that scan; see `settingsFingerprint`. */
  readonly scannedWith?: string;
  readonly runId?: string;
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
  omitted: {},
};

export function isSame(a: Identity, b: Identity): boolean {
  return a.uid === b.uid;
}

export function identityOf({ kind, namespace, name, uid }: Identity): Identity {
  return { kind, namespace, name, uid };
}

export function standingOf({
  priority = 0,
  isGateway = false,
  attempts,
  refusals,
  youngest,
}: Partial<Standing>): Standing {
  return {
    priority,
    isGateway,
    ...(attempts !== undefined && { attempts }),
    ...(refusals !== undefined && { refusals }),
    ...(youngest !== undefined && { youngest }),
  };
}

/** Whether a workload is being restarted. One whose restart has failed may be restarted again. */
export function isUnderWay({ inflight }: Pick<State, 'inflight'>, { uid }: Pick<Identity, 'uid'>): boolean {
  return inflight.some((each) => each.uid === uid && each.phase !== 'Failed');
}

/** Adds to the totals that metrics show. */
export function counted(state: State, ...names: readonly string[]): State {
  const counters = { ...state.counters };
  for (const name of names) {
    counters[name] = (counters[name] ?? 0) + 1;
  }
  return { ...state, counters };
}
