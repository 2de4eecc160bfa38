import { pods } from '../../../lib/kube/model/resource.ts';
import { inParallel } from '../../../lib/base/in-parallel.ts';
import { remember } from '../mesh/remember.ts';
import type { Notice } from '../notice.ts';
import type { Pass } from '../pass.ts';
import { readWorkload } from '../scan/observe.ts';
import type { Knowledge } from '../scan/judge.ts';
import { evaluateRestarted, type Finding } from '../scan/scan.ts';
import { configFingerprint } from '../state/pending.ts';
import type { InFlight } from '../state/state.ts';
import { endOf, settled, type Look } from './settle.ts';
import { troubleOf } from './trouble.ts';

const readsAtOnce = 8;

interface Ended extends Look {
  readonly intent: InFlight;
}

/** Looks at every restart under way and writes down which have come to an end, and how. */
export async function settleAll(pass: Pass): Promise<void> {
  const { store, config, now } = pass;
  const ends = await inParallel(readsAtOnce, store.state().inflight, (intent) => lookAt(pass, intent));
  const closed = ends.filter(({ end }) => end.is !== 'open');
  let notices: Notice[] = [];
  if (closed.length > 0) {
    await store.update((before) => {
      notices = [];
      return closed.reduce((state, { intent, ...ended }) => {
        const next = settled(state, intent, ended, { config, now: now() });
        notices.push(...next.notices);
        return next.state;
      }, before);
    });
  }
  for (const { intent, end } of closed) {
    const { kind, namespace, name } = intent;
    pass.context.log.info({ kind, namespace, name, end: end.is, attempt: intent.attempt }, 'restart ended');
  }
  await pass.tell(notices);
}

/** One that cannot be looked at now holds up no other. */
async function lookAt(pass: Pass, intent: InFlight): Promise<Ended> {
  try {
    return await look(pass, intent);
  } catch (error) {
    const { kind, namespace, name } = intent;
    pass.context.log.warn(
      { kind, namespace, name, reason: troubleOf(error).message },
      'restart cannot be looked at now',
    );
    return { intent, end: { is: 'open' } };
  }
}

async function look(pass: Pass, intent: InFlight): Promise<Ended> {
  const { context, config, now } = pass;
  // In this order: what the workload says of itself while the pod is there tells nothing about the time after it.
  const isGone = intent.pod === undefined || (await isPodGone(pass, intent.namespace, intent.pod));
  const workload = await readWorkload(context.kube, intent.kind, intent);
  const end = endOf(intent, workload, { now: now(), annotation: config.RESTART_ANNOTATION, isPodGone: isGone });
  if (end.is !== 'replaced') {
    return { intent, end };
  }
  const knowledge = await pass.knowledge();
  const finding = await evaluateRestarted(pass.scanner(), knowledge, intent);
  if (finding !== undefined && isUnsure(intent, finding)) {
    return { intent, end: { is: 'open' } };
  }
  const { code, key } = finding?.verdict ?? {};
  const isVerified = code === 'Current' && key !== undefined && isSettledOn(pass, knowledge);
  return { intent, end, finding, ...(isVerified && { verification: key }) };
}

/** Nobody could say whether the pods are right, or the replacement of the evicted one is yet to come. */
function isUnsure({ pod }: InFlight, { staffed: { workload, current, older }, verdict }: Finding): boolean {
  const isShort = pod !== undefined && current.length + older.length < workload.replicas;
  return isShort || verdict.code === 'ProbeFailed';
}

/** While a change of the control planes waits for its scan, injectors may still answer as before it. */
function isSettledOn({ store, config, now }: Pass, { mesh }: Knowledge): boolean {
  const state = store.state();
  const seen = configFingerprint(remember(state, mesh, now()), config);
  return state.pending === undefined && seen === configFingerprint(state, config);
}

async function isPodGone(
  { context }: Pass,
  namespace: string,
  { name, uid }: NonNullable<InFlight['pod']>,
): Promise<boolean> {
  const pod = await context.kube.get(pods, { namespace, name });
  return pod?.metadata?.uid !== uid;
}
