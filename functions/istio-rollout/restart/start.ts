import { Failure } from '../../../lib/base/failure.ts';
import type { Notice } from '../notice.ts';
import type { Pass } from '../pass.ts';
import { blockedNotice } from '../scan/news.ts';
import { evaluate } from '../scan/scan.ts';
import { retryPauseMs } from '../state/pending.ts';
import { identityOf, type Candidate, type Queue, type Wait } from '../state/state.ts';
import { begun, intentOf, isBegun, paceEnd, putAllAside, woken, type Aside } from './begin.ts';
import { carryOut } from './carry-out.ts';
import { gateMs } from './gates.ts';
import { reasonAgainst } from './obstacle.ts';
import { inOrder } from './order.ts';
import { troubleOf } from './trouble.ts';
import { hasRoom } from './wave.ts';

/** Restarts what may be restarted now, one after the other, until the wave is full. */
export async function startRestarts(pass: Pass): Promise<void> {
  const { store, now } = pass;
  const { queue } = await store.update((state) => woken(state, now()));
  const asides = new Map<Candidate, Aside>();
  const trouble = await tryAll(pass, asides);
  await writeAsides(pass, asides, queue);
  if (trouble !== undefined) {
    throw trouble;
  }
}

/** After so many failures in a row it is not the workloads. */
const patience = 3;

/** Fills in what is to be put aside. The answer is the trouble that ended it before its time. */
async function tryAll(pass: Pass, asides: Map<Candidate, Aside>): Promise<Failure | undefined> {
  let failures = 0;
  for (const candidate of inOrder(pass.store.state().queue.items, pass.config)) {
    if (isHeld(pass)) {
      return undefined;
    }
    if (!isDue(pass, candidate)) {
      continue;
    }
    const result = await tryRestart(pass, candidate).catch(troubleOf);
    failures = result instanceof Failure ? failures + 1 : 0;
    const aside = result instanceof Failure ? afterTrouble(pass, candidate, result) : result;
    if (aside !== undefined) {
      asides.set(candidate, aside);
    }
    if (result instanceof Failure && failures === patience) {
      return result;
    }
  }
  return undefined;
}

/** Nothing at all may begin now. */
function isHeld(pass: Pass): boolean {
  const { store, config, now } = pass;
  const state = store.state();
  return pass.isOver() || paceEnd(state, config) > now() || state.pacing.paused !== undefined;
}

/** Where there is no room for its pods smaller ones may go first: it has its turn when they are done. */
function isDue({ store, config, now }: Pass, candidate: Candidate): boolean {
  const { wait, pods = 1 } = candidate;
  return (wait?.until ?? 0) <= now() && hasRoom(store.state().inflight, candidate, pods, config);
}

/** A change that nobody has told of yet will be scanned; until then no candidate means anything. */
async function isFoundUnderThisMesh({ store, knowledge }: Pass): Promise<boolean> {
  const { configFingerprint } = await knowledge();
  return configFingerprint === store.state().queue.configFingerprint;
}

/** A dry run has nothing more to say of what may be restarted; it looks again, but not in every pass. */
const dryRunMs = 3_600_000;

/** Restarts one workload, if a fresh look at it and its surroundings finds nothing against it. */
async function tryRestart(pass: Pass, candidate: Candidate): Promise<Aside | undefined> {
  const { config, store, now, id: by, context } = pass;
  if (!(await isFoundUnderThisMesh(pass))) {
    return undefined;
  }
  const finding = await evaluate(pass.scanner(), await pass.knowledge(), candidate);
  const aside = await reasonAgainst(pass, finding);
  if (aside !== undefined || finding === undefined) {
    return aside ?? { drop: true };
  }
  if (config.DRY_RUN) {
    const { kind, namespace, name } = candidate;
    context.log.info({ kind, namespace, name }, 'would restart');
    return { wait: { code: 'DryRun', until: now() + dryRunMs } };
  }
  const intent = intentOf(candidate, finding, { config, now: now(), by });
  await store.update((state) => begun(state, intent, { config, now: now() }));
  if (!isBegun(store.state(), intent)) {
    const { pods } = intent;
    const isCrowded = !hasRoom(store.state().inflight, intent, pods, config);
    return isCrowded ? { wait: { code: 'Wave', until: now() + gateMs }, pods } : undefined;
  }
  await carryOut(pass, candidate, { intent, finding });
  return undefined;
}

/** Nobody knows about this one now; the others need not wait for it. */
function afterTrouble({ context, now }: Pass, candidate: Candidate, { message }: Failure): Aside {
  const { kind, namespace, name } = candidate;
  context.log.warn({ kind, namespace, name, reason: message }, 'restart not possible now');
  const refusals = (candidate.refusals ?? 0) + 1;
  return { wait: { code: 'ApiFailed', until: now() + retryPauseMs(refusals) }, refusals };
}

/** Written together, and only where something is new: waiting costs no writes. */
async function writeAsides(
  { store, tell }: Pass,
  asides: ReadonlyMap<Candidate, Aside>,
  { configFingerprint }: Queue,
): Promise<void> {
  const fresh = [...asides].filter(
    ([candidate, aside]) => !('wait' in aside) || !isSameWait(candidate.wait, aside.wait),
  );
  await store.update((state) => putAllAside(state, new Map(fresh), configFingerprint));
  await tell(fresh.flatMap(([candidate, aside]) => noticesOf(candidate, aside)));
}

function noticesOf(candidate: Candidate, aside: Aside): readonly Notice[] {
  if ('block' in aside) {
    return blockedNotice({ ...candidate, reason: aside.block.reason }, aside.note);
  }
  return 'wait' in aside && aside.wait.code !== candidate.wait?.code
    ? [{ about: identityOf(candidate), reason: 'RestartDeferred', note: `waits: ${aside.wait.code}` }]
    : [];
}

/** A time that only says when to look again is not news. */
function isSameWait(before: Wait | undefined, { code, until }: Wait): boolean {
  return before?.code === code && (!timed.has(code) || before.until === until);
}

const timed: ReadonlySet<string> = new Set(['Cooldown', 'Window', 'Frozen', 'ApiFailed']);
