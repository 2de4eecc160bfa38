import type { Context } from '../../lib/function/define.ts';
import { asFailure, handling, type Failure } from '../../lib/function/failure.ts';
import type { Plan, Step } from '../../lib/function/plan.ts';
import { inParallel } from '../../lib/work/in-parallel.ts';
import type { Config } from './config.ts';
import { findingsOf } from './findings.ts';
import { act, type Done } from './hold/act.ts';
import type { HeldKind } from './hold/kind.ts';
import { heldKinds } from './hold/kinds.ts';
import { holdNews } from './hold/news.ts';
import { decideHolds } from './hold/plan.ts';
import type { Place } from './hold/sources.ts';
import { transitionNews } from './news.ts';
import { observe } from './observe.ts';
import { planStatus, type Findings } from './status.ts';

/** Looks at everything, does what the clock and the policies ask for, and comes back when the next of them turns. */
export async function reconcile(context: Context<Config>): Promise<void> {
  const { done, findings } = await hold(context, heldKinds(context.config), {});
  const now = context.now().getTime();
  await tell(
    context,
    findings.map((each) => planTelling(each, done, now)),
  );
  const next = Math.min(Infinity, ...findings.map(({ state }) => state.until ?? Infinity));
  if (next < Infinity) {
    context.later('transition', new Date(next), reconcile);
  }
  throwTransient(done);
}

/** Does the same for objects of one place alone. What it changes in the status of policies, the next tick tells. */
export async function reconcileAt(context: Context<Config>, kinds: readonly HeldKind[], place: Place): Promise<void> {
  const { done, findings } = await hold(context, kinds, place);
  await tell(
    context,
    findings.map((each) => ({ steps: holdNews(each, done) })),
  );
  throwTransient(done);
}

interface Held {
  readonly done: readonly Done[];
  readonly findings: readonly Findings[];
}

async function hold(context: Context<Config>, kinds: readonly HeldKind[], place: Place): Promise<Held> {
  const { kube, config: settings } = context;
  const observed = await observe(kube, kinds, place);
  const now = context.now().getTime();
  const denying = observed.rules.filter((rule) => rule.denying(now).on);
  const done = await act(
    kube,
    observed.candidates.flatMap((candidates) => decideHolds(candidates, denying, observed.namespaces)),
  );
  throwConflict(done);
  return { done, findings: findingsOf(observed, { done, now, settings }) };
}

/** Events before the status, which says that they are told. */
function planTelling(findings: Findings, done: readonly Done[], now: number): Plan {
  const steps: readonly (Step | undefined)[] = [
    transitionNews(findings),
    ...holdNews(findings, done),
    planStatus(findings, now),
  ];
  return { steps: steps.filter((step) => step !== undefined) };
}

/** How many policies are told about at once. */
const width = 4;

/** One policy that can't be told about keeps no other waiting. */
async function tell({ kube }: Context<Config>, plans: readonly Plan[]): Promise<void> {
  const failures: Failure[] = [];
  await inParallel(width, plans, async (plan) => {
    await kube.run(plan).catch((error: unknown) => failures.push(asFailure(error)));
  });
  throwFirst(failures);
}

/** Somebody was faster: all that was not reached is looked at again, from the reads on. */
function throwConflict(done: readonly Done[]): void {
  throwFirst(failuresOf(done).filter(({ kind }) => kind === 'conflict'));
}

/** What another try may heal is for the sender of the event; what it can't is told in Events of the policy. */
function throwTransient(done: readonly Done[]): void {
  throwFirst(failuresOf(done).filter(({ kind }) => handling[kind].retry));
}

function failuresOf(done: readonly Done[]): Failure[] {
  return done.flatMap(({ failure }) => failure ?? []);
}

function throwFirst([first]: readonly Failure[]): void {
  if (first !== undefined) {
    throw first;
  }
}
