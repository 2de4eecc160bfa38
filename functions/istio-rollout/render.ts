import { formatInstant } from '../../lib/time/instant.ts';
import type { Row, Rows } from './rows.ts';
import type { Omitted, State, Wait } from './state/state.ts';

/** The same with what has become of it since the scan. */
export interface StatusRow extends Row {
  /** When it is looked at again. */
  readonly until?: string;
}

export interface Status {
  readonly run?: string;
  readonly trigger?: string;
  readonly paused?: string;
  readonly pending?: { readonly reasons: readonly string[]; readonly lastError?: string };
  readonly counts: Readonly<Record<WorkloadState, number>>;
  /** What the ConfigMaps had no room for; it comes back as soon as there is. */
  readonly omitted?: Omitted & { readonly workloads?: number };
  readonly lastScanAt?: string;
  readonly nextActionAt?: string;
  readonly workloads: readonly StatusRow[];
}

export type WorkloadState = 'outdated' | 'queued' | 'inflight' | 'failed' | 'blocked';

/** What is known of all workloads, with what has become of them since the scan. */
export function renderStatus(state: State, { rows, omitted: unlisted }: Rows): Status {
  const { pacing, pending } = state;
  const omitted = { ...state.omitted, ...(unlisted > 0 && { workloads: unlisted }) };
  const workloads = rows.map((row) => ({ ...row, ...phaseOf(state, row) }));
  const next = nextActionOf(state);
  return {
    ...(pacing.runId !== undefined && { run: pacing.runId }),
    ...(pacing.trigger !== undefined && { trigger: pacing.trigger }),
    ...(pacing.paused && { paused: pacing.paused.reason }),
    ...(pending && {
      pending: { reasons: pending.reasons, ...(pending.lastError !== undefined && { lastError: pending.lastError }) },
    }),
    counts: countsOf(state),
    ...(Object.keys(omitted).length > 0 && { omitted }),
    ...(pacing.lastFullScanAt !== undefined && { lastScanAt: formatInstant(pacing.lastFullScanAt) }),
    ...(next !== undefined && { nextActionAt: formatInstant(next) }),
    workloads,
  };
}

export function countsOf({ queue, inflight, blocked }: State): Readonly<Record<WorkloadState, number>> {
  const failed = inflight.filter(({ phase }) => phase === 'Failed').length;
  const queued = queue.items.filter(({ fingerprint }) => fingerprint !== undefined).length; // others are yet to be judged
  return {
    outdated: queued + inflight.length - failed,
    queued,
    inflight: inflight.length - failed,
    failed,
    blocked: blocked.length,
  };
}

function phaseOf(state: State, { uid }: Row): Partial<StatusRow> {
  const restart = state.inflight.find((each) => each.uid === uid);
  const waiting = state.queue.items.find((each) => each.uid === uid);
  const stopped = state.blocked.find((each) => each.uid === uid);
  if (restart !== undefined) {
    return { code: restart.phase === 'Failed' ? 'RolloutFailed' : 'InFlight', detail: `attempt ${restart.attempt}` };
  }
  if (waiting !== undefined) {
    return phaseOfWait(waiting.wait);
  }
  return stopped === undefined ? {} : { code: stopped.reason };
}

function phaseOfWait(wait: Wait | undefined): Partial<StatusRow> {
  return { code: wait?.code ?? 'Queued', ...(wait?.until !== undefined && { until: formatInstant(wait.until) }) };
}

/** When something will happen by itself. */
function nextActionOf({ pending, queue, blocked, pacing }: State): number | undefined {
  const times = [pending?.dueAt, ...queue.items.map(({ wait }) => wait?.until), ...blocked.map(({ nextAt }) => nextAt)];
  const known = times.filter((time) => time !== undefined);
  return known.length === 0 || pacing.paused !== undefined ? undefined : Math.min(...known);
}
