import type { Context } from '../../lib/function/definition.ts';
import { memoryKey } from '../../lib/function/memory.ts';
import type { Config } from './config.ts';
import { parseImage } from './drift/image.ts';
import { countsOf } from './render.ts';
import type { Rows } from './rows.ts';
import type { Scan } from './scan/scan.ts';
import type { State } from './state/state.ts';

/** What this process has told so far of the totals in the state, and which tags it has told of. */
const reported = memoryKey(() => ({ totals: new Map<string, number>(), tags: new Set<string>() }));

const totals: Readonly<Record<string, { readonly help: string; readonly labels: readonly string[] }>> = {
  restarts_total: { help: 'Restarts by kind and how they went.', labels: ['kind', 'result'] },
  probes_total: { help: 'Questions to injectors by answer.', labels: ['result'] },
  scans_total: { help: 'Scans by what called for them.', labels: ['trigger'] },
  skipped_total: { help: 'Workloads that scans left alone, by reason.', labels: ['reason'] },
};

/** Sets the metrics from the state, so that they survive the process. */
export function publish(
  context: Context<Config>,
  state: State,
  { rows, scan }: { readonly rows: Rows; readonly scan: Scan | undefined },
): void {
  const { metrics } = context;
  publishTotals(context, state);
  const workloads = metrics.gauge('workloads', 'Workloads by state.', ['state']);
  for (const [name, count] of Object.entries({ ...countsOf(state), ...scannedCounts(scan, rows) })) {
    workloads.set(count, { state: name });
  }
  const omitted = metrics.gauge('omitted', 'What the ConfigMaps had no room for.', ['what']);
  omitted.set(rows.omitted, { what: 'workloads' });
  for (const what of ['blocked', 'namespaces', 'queue', 'verified'] as const) {
    omitted.set(state.omitted[what] ?? 0, { what });
  }
  metrics
    .gauge('run_paused', '1 while a failed rollout has paused the run.')
    .set(state.pacing.paused === undefined ? 0 : 1);
  metrics
    .gauge('last_scan_timestamp_seconds', 'When everything was last scanned.')
    .set((state.pacing.lastFullScanAt ?? 0) / 1000);
  if (scan !== undefined && scan.namespaces === undefined) {
    publishTags(context, scan);
  }
}

function publishTotals(context: Context<Config>, { counters }: State): void {
  const known = context.memory(reported).totals;
  for (const [name, total] of Object.entries(counters)) {
    const [, metric = '', values = ''] = /^(\w+)\{(.*)\}$/.exec(name) ?? [];
    const described = totals[metric];
    if (described !== undefined) {
      const labels = Object.fromEntries(
        described.labels.map((label, index) => [label, values.split(',')[index] ?? '']),
      );
      const growth = Math.max(0, total - (known.get(name) ?? 0));
      context.metrics.counter(metric, described.help, described.labels).add(growth, labels);
      known.set(name, total);
    }
  }
}

/** What only a full scan can tell. */
function scannedCounts(scan: Scan | undefined, { rows, omitted }: Rows): Readonly<Record<string, number>> {
  if (scan === undefined || scan.namespaces !== undefined) {
    return {};
  }
  const current = scan.findings.filter(({ verdict }) => verdict.code === 'Current' || verdict.code === 'Fresh');
  return { current: current.length, reported: rows.length + omitted };
}

/** More tags than any mesh has; what is beyond counts as one. */
const mostTags = 20;

function publishTags(context: Context<Config>, { findings, strays }: Scan): void {
  const pods = [
    ...findings.flatMap(({ staffed }) => [...staffed.current, ...staffed.older]),
    ...strays.map(({ pod }) => pod),
  ];
  const counts = new Map<string, number>([...context.memory(reported).tags].map((tag) => [tag, 0]));
  for (const { proxy } of pods) {
    const { tag = 'none' } = proxy === undefined ? {} : parseImage(proxy.image);
    const label = counts.has(tag) || counts.size < mostTags ? tag : 'other';
    counts.set(label, (counts.get(label) ?? 0) + (proxy === undefined ? 0 : 1));
  }
  const proxies = context.metrics.gauge('proxies', 'Live proxies by tag of their image.', ['image_tag']);
  for (const [tag, count] of counts) {
    proxies.set(count, { image_tag: tag });
    context.memory(reported).tags.add(tag);
  }
}
