import { by } from '../../lib/base/order.ts';
import { quietCodes, type Code } from './scan/code.ts';
import type { Scan } from './scan/scan.ts';
import type { State } from './state/state.ts';

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

/** As many as a ConfigMap holds, in order, and how many it does not. */
export interface Rows {
  readonly rows: readonly Row[];
  readonly omitted: number;
}

/** What a ConfigMap surely holds beside a summary. */
const mostBytes = 900 * 1024;
const longestDetail = 200;

/** The rows after a scan: those of the scanned namespaces are new. */
export function rowsOf({ rows: before, omitted }: Rows, { namespaces, findings, strays }: Scan): Rows {
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
  const { rows, omitted: cut } = fitting([...kept, ...found, ...lonely].sort(byPlace));
  return { rows, omitted: cut + (namespaces === undefined ? 0 : omitted) };
}

/** The rows with what we restart marked, so that they tell of it when the state no longer does. */
export function withRestarts({ rows, omitted }: Rows, { inflight }: Pick<State, 'inflight'>): Rows {
  const restarted = new Set(inflight.filter(({ phase }) => phase !== 'Intent').map(({ uid }) => uid));
  return { rows: rows.map((row) => (restarted.has(row.uid) ? { ...row, code: 'Restarted' } : row)), omitted };
}

function fitting(rows: readonly Row[]): Rows {
  let room = mostBytes;
  const end = rows.findIndex((row) => (room -= Buffer.byteLength(JSON.stringify(row)) + 1) < 0);
  return end < 0 ? { rows, omitted: 0 } : { rows: rows.slice(0, end), omitted: rows.length - end };
}

function rowOf(
  { kind, namespace, name, uid }: Pick<Row, 'kind' | 'namespace' | 'name' | 'uid'>,
  code: Code,
  about: Readonly<Partial<Record<'detail' | 'revision' | 'current' | 'expected', string | undefined>>>,
): Row {
  const given = Object.entries(about).filter(([, value]) => value !== undefined);
  return { kind, namespace, name, uid, code, ...Object.fromEntries(given) };
}

const byPlace = by(({ namespace, name, kind }: Row) => `${namespace}/${name}/${kind}`);

/** As the status ConfigMap holds them. */
export function renderRows({ rows, omitted }: Rows): Readonly<Record<'workloads' | 'omitted', string>> {
  return { workloads: rows.map((row) => JSON.stringify(row)).join('\n'), omitted: String(omitted) };
}

/** Whatever cannot be read is written anew by the next full scan. */
export function parseRows({ workloads = '', omitted = '0' }: Readonly<Record<string, string>> = {}): Rows {
  try {
    const lines = workloads.split('\n').filter((line) => line !== '');
    return { rows: lines.map((line) => JSON.parse(line) as Row), omitted: Number(omitted) || 0 };
  } catch {
    return { rows: [], omitted: 0 };
  }
}
