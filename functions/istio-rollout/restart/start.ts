import { Failure } from '../../../lib/function/failure.ts';
import { pause } from '../../../lib/pause.ts';
import type { Pass } from '../pass.ts';
import type { Code } from '../scan/code.ts';
import type { Verdict } from '../scan/judge.ts';
import { evaluate, type Finding } from '../scan/scan.ts';
import { wishesOf } from '../scan/wishes.ts';
import { backoffMs } from '../state/pending.ts';
import { counted, identityOf, type Candidate, type InFlight, type Wait } from '../state/state.ts';
import { abandoned, begun, intentOf, isBegun, paceEnd, patched, putAside, woken, type Aside } from './begin.ts';
import { waitOf } from './gates.ts';
import { inOrder } from './order.ts';
import { restartStep, stampOf } from './steps.ts';
import { hasRoom, isFull } from './wave.ts';

const soonMs = 30_000;

/** Restarts what may be restarted now, one after the other, until the wave is full. */
export async function startRestarts(pass: Pass): Promise<void> {
  const { store, config, now } = pass;
  if (config.DRY_RUN) {
    return;
  }
  await store.update((state) => woken(state, now()));
  const asides = new Map<Candidate, Aside>();
  for (const candidate of inOrder(store.state().queue.items, config)) {
    if (isHeld(pass)) {
      break;
    }
    const aside = isDue(pass, candidate) ? await tryRestart(pass, candidate) : undefined;
    if (aside !== undefined) {
      asides.set(candidate, aside);
    }
  }
  await writeAsides(pass, asides);
}

/** Nothing at all may begin now. */
function isHeld(pass: Pass): boolean {
  const { store, config, now } = pass;
  const state = store.state();
  const isEarly = paceEnd(state, config) > now();
  return pass.isOver() || isEarly || state.pacing.paused !== undefined || isFull(state.inflight, config);
}

function isDue({ store, config, now }: Pass, candidate: Candidate): boolean {
  return (candidate.wait?.until ?? 0) <= now() && hasRoom(store.state().inflight, candidate, 0, config);
}

/** Restarts one workload, if a fresh look at it and its surroundings finds nothing against it. */
async function tryRestart(pass: Pass, candidate: Candidate): Promise<Aside | undefined> {
  const { config, store, now, id: by } = pass;
  const finding = await evaluate(pass.scanner(), await pass.knowledge(), candidate);
  const aside = await reasonAgainst(pass, finding);
  if (aside !== undefined || finding === undefined) {
    return aside ?? { drop: true };
  }
  const intent = intentOf(candidate, finding, { config, now: now(), by });
  await store.update((state) => begun(state, intent, config));
  if (!isBegun(store.state(), intent)) {
    return undefined;
  }
  await carryOut(pass, candidate, { intent, finding });
  return undefined;
}

async function reasonAgainst(
  { config, now, survey, knowledge }: Pass,
  finding: Finding | undefined,
): Promise<Aside | undefined> {
  if (finding === undefined) {
    return { drop: true };
  }
  const { staffed, verdict } = finding;
  const { workload } = staffed;
  if (verdict.code !== 'Outdated') {
    return asideOf(verdict, now());
  }
  const { mesh } = await knowledge();
  const wishes = wishesOf(workload, mesh.namespaces[workload.namespace], config);
  const wait = waitOf(workload, wishes, await survey(workload, verdict.revision), { config, now: now() });
  return wait === undefined ? undefined : { wait };
}

const passing: ReadonlySet<Code> = new Set(['RolloutInProgress', 'ProbeFailed']);
const lasting: ReadonlySet<Code> = new Set(['OnDelete', 'Partitioned', 'Ineffective', 'ConfigInvalid']);

function asideOf({ code, fingerprint }: Verdict, now: number): Aside {
  if (code === 'Paused' || passing.has(code)) {
    return { wait: { code, ...(code !== 'Paused' && { until: now + soonMs }) } };
  }
  return lasting.has(code)
    ? { block: { reason: code, ...(fingerprint !== undefined && { fingerprint }) } }
    : { drop: true };
}

const tries = 3;

/** The write itself. Its intent is durable: whatever happens from here on, a later pass finds out whether it was done. */
async function carryOut(
  pass: Pass,
  candidate: Candidate,
  first: { readonly intent: InFlight; readonly finding: Finding },
): Promise<void> {
  const { intent } = first;
  let finding: Finding | undefined = first.finding;
  for (let attempt = 1; attempt <= tries; attempt += 1) {
    const refusal = await write(pass, intent, finding);
    if (refusal === undefined) {
      await confirm(pass, intent, finding);
      return;
    }
    const aside = asideFor(refusal, pass.now());
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
  const aside = { wait: { code: 'Contested', until: pass.now() + soonMs } };
  await giveUp(pass, { candidate, intent, aside }, 'somebody else keeps changing it');
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
    if (error instanceof Failure && ['conflict', 'impossible', 'throttled'].includes(error.kind)) {
      return error;
    }
    throw error; // nobody knows whether it was done: a later pass looks
  }
}

/** A budget that forbids an eviction, or a policy that forbids the patch, will do so for a while. */
function asideFor({ kind, message }: Failure, now: number): Aside | undefined {
  if (kind === 'throttled') {
    return { wait: { code: 'PDB', until: now + soonMs } };
  }
  return kind === 'impossible' ? { block: { reason: `Denied: ${message.slice(0, 200)}` } } : undefined;
}

async function confirm({ store, tell }: Pass, intent: InFlight, { verdict }: Finding): Promise<void> {
  await store.update((state) => counted(patched(state, intent), `restarts_total{${intent.kind},triggered}`));
  const [current, expected] = [verdict.pod?.proxy?.image ?? 'none', verdict.expected?.image ?? 'none'];
  const what = intent.pod === undefined ? 'restarted' : `evicted pod ${intent.pod.name}`;
  await tell([
    { about: identityOf(intent), reason: 'RestartTriggered', note: `${what}: proxy ${current}, expected ${expected}` },
  ]);
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
  const refused = { ...fingerprint, refusals, nextAt: now() + backoffMs(refusals) };
  await store.update((state) =>
    putAside(abandoned(state, intent), candidate, isRefused ? { block: { ...aside.block, ...refused } } : aside),
  );
  if (isRefused) {
    await tell([{ about: identityOf(candidate), reason: 'RestartDeferred', note: why }]);
  }
}

/** Written together, and only where something is new: waiting costs no writes. */
async function writeAsides({ store, tell }: Pass, asides: ReadonlyMap<Candidate, Aside>): Promise<void> {
  const fresh = [...asides].filter(
    ([candidate, aside]) => !('wait' in aside) || !isSameWait(candidate.wait, aside.wait),
  );
  await store.update((state) => fresh.reduce((next, [candidate, aside]) => putAside(next, candidate, aside), state));
  const deferred = fresh.flatMap(([candidate, aside]) =>
    'wait' in aside && aside.wait.code !== candidate.wait?.code ? [{ candidate, ...aside }] : [],
  );
  await tell(
    deferred.map(({ candidate, wait }) => ({
      about: identityOf(candidate),
      reason: 'RestartDeferred',
      note: `waits: ${wait.code}`,
    })),
  );
}

/** A time that only says when to look again is not news. */
function isSameWait(before: Wait | undefined, { code, until }: Wait): boolean {
  return before?.code === code && (!timed.has(code) || before.until === until);
}

const timed: ReadonlySet<string> = new Set(['Cooldown', 'Window', 'Frozen']);
