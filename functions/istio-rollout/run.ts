import { dnsLabel } from '../../lib/function/config.ts';
import type { Context } from '../../lib/function/definition.ts';
import type { Wake } from '../../lib/function/triggers.ts';
import { memoryKey } from '../../lib/function/memory.ts';
import { sharedNow, tellSkew } from './clock.ts';
import type { Config } from './config.ts';
import { readMesh } from './mesh/mesh.ts';
import { readSubject, type Note } from './mesh/note.ts';
import { remember, scopeOfChange, withScope } from './mesh/remember.ts';
import { commands } from './names.ts';
import { effectiveConfig } from './overrides.ts';
import { openPass, type Pass } from './pass.ts';
import { report } from './report.ts';
import { paceEnd, reconsidered } from './restart/begin.ts';
import { resumeIfPossible } from './restart/resume.ts';
import { settleAll } from './restart/settle-all.ts';
import { startRestarts } from './restart/start.ts';
import { scanIfDue } from './scan/scan-if-due.ts';
import { configFingerprint, withSettings, withTrigger } from './state/pending.ts';
import type { State } from './state/state.ts';
import { openStore } from './state/store.ts';

/** An event: what changed is remembered together with the scan that it calls for. The scan itself comes later. */
export async function noteChange(context: Context<Config>, { subjects }: Wake): Promise<void> {
  const config = await effectiveConfig(context);
  const found = await Promise.all(subjects.map((subject) => readSubject(context.kube, config, subject)));
  const notes = found.filter((note) => note !== undefined);
  if (notes.length === 0) {
    return;
  }
  const now = sharedNow(context);
  const store = await openStore(context);
  const state = await store.update((before) => noted(before, notes, now, config));
  planPass(context, state, config);
}

function noted(before: State, notes: readonly Note[], now: number, config: Config): State {
  const after = notes.reduce((state, note) => note(state, now), before);
  return withChanges(before, after, now, config);
}

/** What changed is remembered together with the scan that it calls for; what did not is no reason to write. */
function withChanges(before: State, after: State, now: number, config: Config): State {
  const next = withScope(after, scopeOfChange(before, after), now, config);
  const isRecorded = Object.keys(after.namespaces).length !== Object.keys(before.namespaces).length;
  return next !== after || isRecorded ? next : before;
}

/** A tick: everything that an event could have told, then a pass. */
export async function tick(context: Context<Config>): Promise<void> {
  await pass(context, true);
}

const turns = memoryKey(() => ({ last: Promise.resolve() }));

/** Two passes at once would be right as well, but ask every injector twice: in one process they take turns. */
export function pass(context: Context<Config>, looksAround = false): Promise<void> {
  const turn = context.memory(turns);
  const askedAt = context.now().getTime(); // whoever asked waits for the turn as well
  const mine = turn.last.then(() => passAlone(context, { looksAround, askedAt }));
  turn.last = mine.catch(() => undefined);
  return mine;
}

/** Ends what has ended, scans if it is time, restarts what may be restarted. Never waits for a rollout. */
async function passAlone(
  context: Context<Config>,
  { looksAround, askedAt }: { readonly looksAround: boolean; readonly askedAt: number },
): Promise<void> {
  const current = await openPass(context, askedAt);
  tellSkew(context);
  let rest = failedPassRestMs;
  try {
    await obey(current);
    if (looksAround) {
      await lookAround(current);
    }
    await invalidate(current);
    await settleAll(current);
    await resumeIfPossible(current);
    const scan = await scanIfDue(current);
    await startRestarts(current);
    await report(current, scan);
    rest = 0;
  } finally {
    current.close();
    planPass(context, current.store.state(), current.config, rest);
  }
}

/**
 * A scan by command: an annotation of the state says where. What cannot be a namespace is left out. Whoever gives it
 * doubts what is known, that restarts are in vain included.
 */
async function obey({ context, store, config, now }: Pass): Promise<void> {
  const { scan } = store.asked();
  if (scan === undefined) {
    return;
  }
  const names = scan.split(',').map((name) => name.trim());
  const namespaces = names.filter((name) => dnsLabel.test.test(name));
  if (namespaces.length < names.length && scan.trim() !== '') {
    context.log.warn({ scan: scan.slice(0, 200) }, `${commands.scan} names what is not a namespace`);
  }
  const isEverywhere = names.includes('all') || scan.trim() === '';
  const where = isEverywhere ? {} : { namespaces };
  const trigger = { ...where, reasons: ['command'], delayMs: 0 };
  const isEmpty = !isEverywhere && namespaces.length === 0;
  await store.update(
    (state) => (isEmpty ? state : withTrigger(reconsidered(state, where, now()), trigger, now(), config)),
    ['scan'],
  );
}

/** Finds changes that no event told of. Before the first scan everything is news, and that scan is due anyway. */
async function lookAround({ context, store, config, now }: Pass): Promise<void> {
  if (store.state().pacing.lastFullScanAt === undefined) {
    return;
  }
  const mesh = await readMesh(context.kube, config);
  await store.update((before) => withChanges(before, remember(before, mesh, now()), now(), config));
}

/** Forgets what was found under other settings or another mesh, and has it scanned again. */
async function invalidate({ store, config, now }: Pass): Promise<void> {
  await store.update((state) => withValidQueue(withSettings(state, now(), config), config));
}

/** What was found under another configuration means nothing. */
function withValidQueue(state: State, config: Config): State {
  const isValid = state.queue.items.length === 0 || state.queue.configFingerprint === configFingerprint(state, config);
  return isValid ? state : { ...state, queue: { configFingerprint: '', items: [] } };
}

const lookAgainMs = 3_000;

/** What failed is not tried again at once. */
const failedPassRestMs = 10_000;

/** The next pass, as soon as there is something for it to do. If this process dies, the next tick does it. */
function planPass(context: Context<Config>, state: State, config: Config, restMs = 0): void {
  const now = sharedNow(context);
  const { pending, inflight, queue, blocked, pacing } = state;
  const isHeld = pacing.paused !== undefined || config.DRY_RUN;
  const times = [
    ...(inflight.some(({ phase }) => phase !== 'Failed') ? [now + lookAgainMs] : []),
    ...(isHeld ? [] : [...queue.items.map(({ wait }) => wait?.until), ...blocked.map(({ nextAt }) => nextAt)]),
    ...(isHeld || queue.items.length === 0 ? [] : [paceEnd(state, config)]),
  ].filter((time) => time !== undefined && time > now);
  const due = pending === undefined ? [] : [Math.max(pending.dueAt, now)]; // what is due already is due at once
  if (times.length + due.length > 0) {
    const soonest = Math.min(...due, ...times.map(Number));
    const delayMs = Math.max(soonest - now, restMs);
    context.later('pass', new Date(context.now().getTime() + delayMs), (later) => pass(later));
  }
}
