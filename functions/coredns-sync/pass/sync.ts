import type { Context } from '../../../lib/function/definition.ts';
import type { Wake } from '../../../lib/function/triggers.ts';
import { asFailure } from '../../../lib/base/failure.ts';
import type { Config } from '../config.ts';
import { fullPass, lookAtEverything } from './full.ts';
import { increment } from './increment.ts';
import { isOwing, passMemory, orphanedAfterMs, type Memory } from '../state/memory.ts';
import { countPass } from '../metrics.ts';
import { policyOf, type Policy } from '../policy.ts';
import { startingOver } from './retry.ts';
import { refsOf, type SourceRef } from '../sources/ref.ts';
import { readState, writeState } from '../state/state.ts';

/**
 * Objects that may ask for hosts have changed. Where the rules may be written now, they are, and the answer says so. Where
 * they were written too recently, the answer says that the work is owed, which the state then tells.
 */
export async function syncObjects(context: Context<Config>, { subjects }: Wake): Promise<void> {
  const policy = policyOf(context.config);
  const refs = refsOf(subjects, policy);
  if (refs.length === 0) {
    return;
  }
  const memory = context.memory(passMemory);
  if (memory.markedAt !== undefined && (memory.flushing || isOwing(memory))) {
    await owe(context, refs, memory.obstructed ? obstructedMs : context.config.MIN_WRITE_INTERVAL_MS);
    return;
  }
  const wait = await settle(context, policy, { refs, kind: 'increment' });
  if (wait > 0) {
    await owe(context, refs, wait);
  }
}

/** Rules must be looked at as a whole. Who undoes what we write, again and again, does not make us write any faster. */
export async function lookAgainIn(context: Context<Config>, waitMs: number): Promise<void> {
  if (waitMs === 0) {
    await lookAtEverything(context);
    return;
  }
  context.memory(passMemory).everythingWaits = true;
  await owe(context, [], waitMs);
}

/**
 * Where no rules may be written, objects alone change nothing about that: what is in the way has events of its own. So long
 * after one of theirs, everything is looked at once, however many come meanwhile.
 */
const obstructedMs = 30_000;

interface Settling {
  readonly refs: readonly SourceRef[];
  readonly everything?: boolean;
  readonly kind: 'increment' | 'flush';
  readonly force?: boolean;
}

/** Milliseconds until the rules may be written; 0 when nothing is left to do. */
async function settle(
  context: Context<Config>,
  policy: Policy,
  { refs, everything = false, kind, force = false }: Settling,
): Promise<number> {
  try {
    const progress = everything
      ? 'rebuild'
      : await startingOver(context, () => increment(context, policy, refs, { force }));
    if (progress === 'rebuild') {
      // By itself: half a full pass makes the index look as if there were nothing left to do.
      await startingOver(context, () => fullPass(context, policy));
    }
    context.memory(passMemory).everythingWaits ||= progress === 'obstructed';
    const wait = progress === 'obstructed' ? obstructedMs : typeof progress === 'number' ? progress : 0;
    countPass(context, kind, wait > 0 ? 'deferred' : 'ok');
    return wait;
  } catch (error) {
    countPass(context, kind, asFailure(error).kind);
    throw error;
  }
}

/** An event is answered only on a mark that is younger than this, so that nobody takes it for that of a dead process. */
const renewAfterMs = orphanedAfterMs / 3;

/** Remembers what is owed: durably that it is, in memory what. One mark serves all that follow until the flush. */
async function owe(context: Context<Config>, refs: readonly SourceRef[], waitMs: number): Promise<void> {
  const memory = context.memory(passMemory);
  enqueue(context, refs); // before the mark, so that a flush that ends now does not take the mark away
  const now = context.now().getTime();
  if (!isMarked(memory, now)) {
    await startingOver(context, () => mark(context));
    memory.markedAt = now;
  }
  plan(context, waitMs);
}

function isMarked({ markedAt }: Memory, now: number): boolean {
  return markedAt !== undefined && now - markedAt < renewAfterMs;
}

/** A flush before its time means that the process ends: then it must not wait. */
function plan(context: Context<Config>, waitMs: number): void {
  const memory = context.memory(passMemory);
  const at = Math.min(context.now().getTime() + waitMs, memory.flushAt ?? Infinity);
  memory.flushAt = at;
  context.later('flush', new Date(at), (later) => flush(later, later.now().getTime() < at));
}

/** Writes everything that waits, at once. */
async function flush(context: Context<Config>, force: boolean): Promise<void> {
  const memory = context.memory(passMemory);
  const refs = [...memory.waiting.values()];
  const everything = memory.everythingWaits;
  memory.waiting.clear();
  memory.everythingWaits = false;
  memory.flushAt = undefined;
  memory.flushing = true;
  try {
    const wait = await settle(context, policyOf(context.config), { refs, everything, kind: 'flush', force });
    if (wait > 0) {
      enqueue(context, refs);
      plan(context, wait);
      return;
    }
    await startingOver(context, () => unmark(context));
  } catch (error) {
    enqueue(context, refs);
    memory.everythingWaits ||= everything;
    throw error; // the timetable tries again
  } finally {
    memory.flushing = false;
  }
}

/** An object is looked at when its turn comes, so any mention of it will do. */
function enqueue(context: Context<Config>, refs: readonly SourceRef[]): void {
  const { waiting } = context.memory(passMemory);
  for (const ref of refs) {
    waiting.set(ref.key, ref);
  }
}

async function mark(context: Context<Config>): Promise<void> {
  const memory = context.memory(passMemory);
  const state = await readState(context);
  const now = context.kube.serverTime() ?? context.now();
  // The server tells whole seconds. Equal marks would be no write, which a removal of the last one would not notice.
  memory.marks += 1;
  const at = new Date(now.getTime() + (memory.marks % 1000)).toISOString();
  await writeState(context, state, { owed: { ...state.owed, [memory.id]: at } });
}

/** Only while nothing waits: who answered an event meanwhile counts on the mark. */
async function unmark(context: Context<Config>): Promise<void> {
  const memory = context.memory(passMemory);
  if (isOwing(memory)) {
    return;
  }
  memory.markedAt = undefined; // from here on whoever owes marks anew, and makes this write fail
  const state = await readState(context);
  const { [memory.id]: _mine, ...others } = state.owed;
  if (!isOwing(memory)) {
    await writeState(context, state, { owed: others });
  }
}
