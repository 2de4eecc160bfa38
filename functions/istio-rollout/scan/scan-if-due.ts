import type { Pass } from '../pass.ts';
import { dueScan } from '../state/pending.ts';
import { counted } from '../state/state.ts';
import { mergeScan, newsOf } from './merge.ts';
import { scan, type Scan } from './scan.ts';

/** After so many tries what an injector says is taken even if it does not fit its ConfigMap. */
const patience = 5;

/** Scans what is pending, or everything when its time has come. */
export async function scanIfDue(pass: Pass): Promise<Scan | undefined> {
  const { store, config, now, context } = pass;
  const before = store.state();
  const pending = dueScan(before, now(), config);
  if (pending === undefined) {
    return undefined;
  }
  const started = now();
  const wasLost = before.pacing.lastFullScanAt === undefined;
  const isTrusting = pending.attempts >= patience;
  const result = await scan({ ...pass.scanner(), isTrusting }, before, pending.namespaces);
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

/** What people should know and only logs can tell; what stays the same is told once. */
function warn({ context: { log }, store }: Pass, { knowledge: { mesh }, unreadable, findings, stale }: Scan): void {
  const known = store.state();
  for (const [ref, { parseError, hash }] of Object.entries(mesh.controlPlanes)) {
    if (parseError !== undefined && known.controlPlanes[ref]?.hash !== hash) {
      log.warn({ configMap: ref, reason: parseError }, 'values of a control plane cannot be read');
    }
  }
  for (const [name, { hash, revision, tag, injectors }] of Object.entries(mesh.webhooks)) {
    if (known.webhooks[name]?.hash !== hash) {
      warnOfWebhooks(log, name, {
        isUnlabelled: name.startsWith('istio-revision-tag-') && (revision === undefined || tag === undefined),
        isConditional: injectors.some(({ isConditional }) => isConditional),
      });
    }
  }
  for (const kind of unreadable) {
    log.debug({ kind }, 'kind cannot be listed');
  }
  for (const revision of stale) {
    log.warn({ revision }, 'istiod does not inject yet what its ConfigMap says');
  }
  for (const { staffed, verdict } of findings) {
    if (verdict.code === 'ProbeFailed') {
      const { kind, namespace, name } = staffed.workload;
      log.warn({ kind, namespace, name, revision: verdict.revision, reason: verdict.detail }, 'probe failed');
    }
  }
}

function warnOfWebhooks(
  log: Pass['context']['log'],
  name: string,
  { isUnlabelled, isConditional }: { readonly isUnlabelled: boolean; readonly isConditional: boolean },
): void {
  if (isUnlabelled) {
    log.warn({ webhooks: name }, 'revision tag without its labels');
  }
  if (isConditional) {
    log.warn({ webhooks: name }, 'match conditions cannot be evaluated here and count as met');
  }
}
