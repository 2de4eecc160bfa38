import type { Failure } from '../../../lib/base/failure.ts';
import { Refusal } from '../../../lib/kube/refusal.ts';
import { pause } from '../../../lib/base/pause.ts';
import type { Pass } from '../pass.ts';
import { evaluate, type Finding } from '../scan/scan.ts';
import { wishesOf } from '../scan/wishes.ts';
import { retryPauseMs } from '../state/pending.ts';
import { counted, identityOf, passingMs, type Candidate, type InFlight } from '../state/state.ts';
import { abandoned, isBegun, patched, putAside, sentWithinMs, type Aside } from './begin.ts';
import { reasonAgainst } from './obstacle.ts';
import { restartStep, stampOf } from './steps.ts';

const tries = 3;

/** The write itself. Its intent is durable: whatever happens from here on, a later pass finds out whether it was done. */
export async function carryOut(
  pass: Pass,
  candidate: Candidate,
  first: { readonly intent: InFlight; readonly finding: Finding },
): Promise<void> {
  const { intent } = first;
  let finding: Finding | undefined = first.finding;
  for (let attempt = 1; attempt <= tries; attempt += 1) {
    if (!(await isStillOurs(pass, intent))) {
      const aside = { wait: { code: 'TooLate', until: pass.now() + passingMs } };
      await giveUp(pass, { candidate, intent, aside }, 'it took too long to begin');
      return;
    }
    const refusal = await write(pass, intent, finding);
    if (refusal === undefined) {
      await confirm(pass, intent, finding);
      return;
    }
    const aside = asideFor(refusal, intent, pass.now());
    if (aside !== undefined) {
      await giveUp(pass, { candidate, intent, aside }, refusal.message);
      return;
    }
    await pause(50 * 2 ** attempt * (0.5 + Math.random() / 2), pass.context.signal);
    finding = await evaluate(pass.scanner(), await pass.knowledge(), candidate);
    const against = await reasonAgainst(pass, finding);
    if (finding === undefined || against !== undefined || finding.verdict.fingerprint !== intent.fingerprint) {
      await giveUp(pass, { candidate, intent, aside: against ?? { wait: { code: 'Changed' } } }, refusal.message);
      return;
    }
  }
  const aside = { wait: { code: 'Contested', until: pass.now() + passingMs } };
  await giveUp(pass, { candidate, intent, aside }, 'somebody else keeps changing it');
}

/** A process may have stood still since: what others took for lost meanwhile must not be done after all. */
async function isStillOurs({ store, now }: Pass, intent: InFlight): Promise<boolean> {
  return isBegun(await store.load(), intent) && now() < intent.intentAt + sentWithinMs;
}

async function write(pass: Pass, intent: InFlight, { staffed, verdict }: Finding): Promise<Failure | undefined> {
  const { config, context, store } = pass;
  const { mesh } = await pass.knowledge();
  const { fieldManager } = wishesOf(staffed.workload, mesh.namespaces[intent.namespace], config);
  const run = store.state().pacing.runId ?? stampOf(intent);
  const step = restartStep(staffed.workload, intent, { annotation: config.RESTART_ANNOTATION, fieldManager, run });
  const { kind, namespace, name } = intent;
  const [current, expected] = [verdict.pod?.proxy?.image, verdict.expected?.image];
  context.log.info(
    { kind, namespace, name, revision: verdict.revision, current, expected, reason: verdict.detail },
    'restart',
  );
  try {
    await context.kube.run({ steps: [step] });
    return undefined;
  } catch (error) {
    if (error instanceof Refusal && error.code < 500) {
      return error;
    }
    throw error; // nobody knows whether it was done: a later pass looks
  }
}

/**
 * A budget that forbids an eviction, a policy or a missing right that forbids the patch, will do so for a while. The same
 * answer to a patch means that the API server has too much to do.
 */
function asideFor({ kind, message }: Failure, { pod }: InFlight, now: number): Aside | undefined {
  if (kind === 'throttled') {
    return { wait: { code: pod === undefined ? 'Throttled' : 'PDB', until: now + passingMs } };
  }
  return kind === 'conflict' ? undefined : { block: { reason: `Denied: ${message.slice(0, 200)}` }, note: message };
}

async function confirm({ store, tell, now }: Pass, intent: InFlight, { verdict }: Finding): Promise<void> {
  await store.update((state) => counted(patched(state, intent, now()), `restarts_total{${intent.kind},triggered}`));
  const [current, expected] = [verdict.pod?.proxy?.image ?? 'none', verdict.expected?.image ?? 'none'];
  const what = intent.pod === undefined ? 'restarted' : `evicted pod ${intent.pod.name}`;
  const note = `${what}: proxy ${current}, expected ${expected}`;
  await tell([{ about: identityOf(intent), reason: 'RestartTriggered', note, occasion: stampOf(intent) }]);
}

interface Abandoned {
  readonly candidate: Candidate;
  readonly intent: InFlight;
  readonly aside: Aside;
}

async function giveUp(
  { store, tell, now, context }: Pass,
  { candidate, intent, aside }: Abandoned,
  why: string,
): Promise<void> {
  const { kind, namespace, name } = candidate;
  context.log.warn({ kind, namespace, name, reason: why }, 'restart not possible now');
  const isRefused = 'block' in aside && aside.block.reason.startsWith('Denied');
  const refusals = (candidate.refusals ?? 0) + 1;
  const fingerprint = candidate.fingerprint === undefined ? {} : { fingerprint: candidate.fingerprint };
  const refused = { ...fingerprint, refusals, nextAt: now() + retryPauseMs(refusals) };
  await store.update((state) =>
    putAside(
      abandoned(state, intent),
      candidate,
      isRefused ? { ...aside, block: { ...aside.block, ...refused } } : aside,
    ),
  );
  if (isRefused) {
    await tell([{ about: identityOf(candidate), reason: 'RestartDeferred', note: why }]);
  }
}
