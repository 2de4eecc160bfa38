import { memoryKey } from '../../../lib/function/memory.ts';
import type { WebhookSet } from '../mesh/webhooks.ts';
import type { Pass } from '../pass.ts';
import { dueScan } from '../state/pending.ts';
import { counted } from '../state/state.ts';
import { mergeScan } from './merge.ts';
import { newsOf } from './news.ts';
import { scan, type Finding, type Scan } from './scan.ts';
import { isOutlived } from './verified.ts';

/** After so many scans in which what an injector says did not fit its ConfigMap it is taken all the same. */
const patience = 5;

/** Scans what is pending, or everything when its time has come. */
export async function scanIfDue(pass: Pass): Promise<Scan | undefined> {
  const { store, config, now, context } = pass;
  const before = store.state();
  const pending = dueScan(before, now(), config);
  if (pending === undefined || pass.isOver()) {
    return undefined;
  }
  const started = now();
  const wasLost = before.pacing.lastFullScanAt === undefined;
  const isTrusting = (pending.late ?? 0) >= patience;
  const isCommanded = pending.reasons.includes('command'); // whoever gives it doubts what is known
  const isDoubted = isCommanded || isOutlived(before.pacing, pending, started);
  const known = isDoubted ? { ...before, verified: [] } : before;
  const result = await scan({ ...pass.scanner(), isTrusting }, known, pending.namespaces);
  pass.learned(result);
  warn(pass, result);
  const counts = pass.takeCounts();
  const after = await store.update((state) =>
    counted(mergeScan(state, { scan: result, pending, now: started, wasLost }), ...counts),
  );
  const codes = Object.groupBy(result.findings, ({ verdict }) => verdict.code);
  const found = Object.fromEntries(Object.entries(codes).map(([code, findings]) => [code, findings.length]));
  context.log.info(
    { reasons: pending.reasons, namespaces: pending.namespaces, found, probes: counts.length },
    'scanned',
  );
  context.metrics.seconds('scan_seconds', 'Time that scans take.').observe((now() - started) / 1000);
  await pass.tell(newsOf(before, after, result));
  return result;
}

/** Contents that this process has warned about, or need not warn about. */
const reported = memoryKey(() => ({ hashes: new Set<string>() }));

/** What people should know and only logs can tell; what stays the same is told once. */
function warn({ context }: Pass, scan: Scan): void {
  const memory = context.memory(reported);
  for (const message of warningsOf(scan, memory.hashes)) {
    context.log.warn(message.about, message.text);
  }
  const { controlPlanes, webhooks } = scan.knowledge.mesh;
  memory.hashes = new Set([...Object.values(controlPlanes), ...Object.values(webhooks)].map(({ hash }) => hash));
}

interface Warning {
  readonly text: string;
  readonly about: Readonly<Record<string, unknown>>;
}

function warningsOf(scan: Scan, known: ReadonlySet<string>): readonly Warning[] {
  const { controlPlanes, webhooks } = scan.knowledge.mesh;
  const planes = Object.entries(controlPlanes).filter(([, { hash }]) => !known.has(hash));
  const hooks = Object.entries(webhooks).filter(([, { hash }]) => !known.has(hash));
  return [
    ...planes.flatMap(([configMap, { parseError }]) =>
      parseError === undefined
        ? []
        : [{ text: 'values of a control plane cannot be read', about: { configMap, reason: parseError } }],
    ),
    ...hooks.flatMap(([name, set]) => webhookWarnings(name, set)),
    ...scan.unreadable
      .filter((kind) => kind !== 'Rollout')
      .map((kind) => ({ text: 'kind cannot be listed', about: { kind } })),
    ...[...scan.stale].map((revision) => ({
      text: 'istiod does not inject yet what its ConfigMap says',
      about: { revision },
    })),
    ...scan.findings.flatMap(probeWarnings),
  ];
}

function webhookWarnings(webhooks: string, { revision, tag, injectors }: WebhookSet): readonly Warning[] {
  const isTag = webhooks.startsWith('istio-revision-tag-');
  const isConditional = injectors.some((injector) => injector.isConditional);
  return [
    ...(isTag && (revision === undefined || tag === undefined)
      ? [{ text: 'revision tag without its labels', about: { webhooks } }]
      : []),
    ...(isConditional
      ? [{ text: 'match conditions cannot be evaluated here and count as met', about: { webhooks } }]
      : []),
  ];
}

function probeWarnings({ staffed: { workload }, verdict, injectors = [] }: Finding): readonly Warning[] {
  const { kind, namespace, name } = workload;
  const about = { kind, namespace, name, revision: verdict.revision };
  return [
    ...(verdict.code === 'ProbeFailed' ? [{ text: 'probe failed', about: { ...about, reason: verdict.detail } }] : []),
    ...(injectors.length > 1 ? [{ text: 'MultipleInjectors', about: { ...about, webhooks: injectors } }] : []),
  ];
}
