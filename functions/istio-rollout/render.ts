import { formatInstant } from '../../lib/time/instant.ts';
import { quietCodes, type Code } from './scan/code.ts';
import type { Scan } from './scan/scan.ts';
import type { Omitted, State, Wait } from './state/state.ts';

/** A workload, or a pod without one, that is worth a line. */
export interface Row {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly code: string;
  readonly detail?: string;
  readonly revision?: string;
  readonly current?: string;
  readonly expected?: string;
}

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
  /** What the state had no room for; it comes back as soon as there is. */
  readonly omitted?: Omitted;
  readonly lastScanAt?: string;
  readonly nextActionAt?: string;
  readonly workloads: readonly StatusRow[];
}

export type WorkloadState = 'outdated' | 'queued' | 'inflight' | 'failed' | 'blocked';

/** As many as a ConfigMap surely holds. */
const mostRows = 2000;
const longestDetail = 200;

/** The rows after a scan: those of the scanned namespaces are new. */
export function rowsOf(before: readonly Row[], { namespaces, findings, strays }: Scan): readonly Row[] {
  const kept = before.filter(({ namespace }) => namespaces?.includes(namespace) === false);
  const told = new Map(before.map((row) => [`${row.uid} ${row.code}`, row]));
  const found = findings
    .filter(({ verdict }) => !quietCodes.has(verdict.code))
    .map(({ staffed: { workload }, verdict }) => {
      const known = verdict.isKnown === true ? told.get(`${workload.uid} ${verdict.code}`) : undefined;
      return (
        known ??
        rowOf(workload, verdict.code, {
          detail: verdict.detail?.slice(0, longestDetail),
          revision: verdict.revision,
          current: verdict.pod?.proxy?.image,
          expected: verdict.expected?.image,
        })
      );
    });
  const lonely = strays
    .filter(({ pod, code }) => pod.proxy !== undefined && code !== 'OwnerGone')
    .map(({ pod, code }) =>
      rowOf({ kind: 'Pod', ...pod }, code, {
        detail: pod.owner?.kind,
        revision: pod.proxy?.revision,
        current: pod.proxy?.image,
      }),
    );
  return [...kept, ...found, ...lonely].sort(byPlace).slice(0, mostRows);
}

function rowOf(
  { kind, namespace, name, uid }: Pick<Row, 'kind' | 'namespace' | 'name' | 'uid'>,
  code: Code,
  about: Readonly<Partial<Record<'detail' | 'revision' | 'current' | 'expected', string | undefined>>>,
): Row {
  const given = Object.entries(about).filter(([, value]) => value !== undefined);
  return { kind, namespace, name, uid, code, ...Object.fromEntries(given) };
}

function byPlace(a: Row, b: Row): number {
  const [left, right] = [a, b].map(({ namespace, name, kind }) => `${namespace}/${name}/${kind}`) as [string, string];
  return left < right ? -1 : 1;
}

export function renderRows(rows: readonly Row[]): string {
  return rows.map((row) => JSON.stringify(row)).join('\n');
}

export function parseRows(text: string | undefined): readonly Row[] {
  try {
    return (text ?? '')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Row);
  } catch {
    return [];
  }
}

/** What is known of all workloads, with what has become of them since the scan. */
export function renderStatus(state: State, rows: readonly Row[]): Status {
  const { pacing, pending, omitted } = state;
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
  return {
    outdated: queue.items.length + inflight.length - failed,
    queued: queue.items.length,
    inflight: inflight.length - failed,
    failed,
    blocked: blocked.length,
  };
}

function phaseOf(state: State, { uid, code }: Row): Partial<StatusRow> {
  const restart = state.inflight.find((each) => each.uid === uid);
  const waiting = state.queue.items.find((each) => each.uid === uid);
  const stopped = state.blocked.find((each) => each.uid === uid);
  if (restart !== undefined) {
    return { code: restart.phase === 'Failed' ? 'RolloutFailed' : 'InFlight', detail: `attempt ${restart.attempt}` };
  }
  if (waiting !== undefined) {
    return phaseOfWait(waiting.wait);
  }
  return stopped === undefined ? { code: passing.has(code) ? 'Restarted' : code } : { code: stopped.reason };
}

/** What a scan found so is over once nothing waits any more. */
const passing: ReadonlySet<string> = new Set(['Outdated', 'Paused', 'RolloutInProgress']);

function phaseOfWait(wait: Wait | undefined): Partial<StatusRow> {
  return { code: wait?.code ?? 'Queued', ...(wait?.until !== undefined && { until: formatInstant(wait.until) }) };
}

/** When something will happen by itself. */
function nextActionOf({ pending, queue, blocked, pacing }: State): number | undefined {
  const times = [pending?.dueAt, ...queue.items.map(({ wait }) => wait?.until), ...blocked.map(({ nextAt }) => nextAt)];
  const known = times.filter((time) => time !== undefined);
  return known.length === 0 || pacing.paused !== undefined ? undefined : Math.min(...known);
}
