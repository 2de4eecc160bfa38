import type { Context } from '../../lib/function/definition.ts';
import { asFailure, handling, type Failure } from '../../lib/base/failure.ts';
import type { Plan, Step } from '../../lib/kube/model/plan.ts';
import { monotonicMs } from '../../lib/base/monotonic.ts';
import { inParallel } from '../../lib/base/in-parallel.ts';
import type { Config } from './config.ts';
import { findingsOf } from './findings.ts';
import { act, type Done } from './hold/act.ts';
import type { HeldKind } from './hold/kind.ts';
import { heldKinds } from './hold/kinds.ts';
import { holdNews, type Course } from './hold/news.ts';
import { decideHolds, type Decision } from './hold/plan.ts';
import type { Place, Unread } from './hold/sources.ts';
import { problemNews, transitionNews } from './news.ts';
import { observe, withPoliciesOfNow, type Observed } from './observe.ts';
import { planStatus, type Findings } from './status.ts';

/** Looks at everything, does what the clock and the policies ask for, and comes back when the next of them turns. */
export async function reconcile(context: Context<Config>): Promise<void> {
  const started = monotonicMs();
  const { done, unread, unstruck, findings } = await hold(context, heldKinds(context.config), {});
  const next = Math.min(Infinity, ...findings.map(({ state }) => state.until ?? Infinity));
  if (next < Infinity) {
    context.later('transition', new Date(next), reconcile);
  }
  const now = context.now().getTime();
  await tell(
    context,
    findings.map((each) => planTelling(each, { done, unread }, now)),
  );
  observeDuration(context, 'policies', started);
  throwTransient([...done, ...unread, { failure: unstruck }]);
}

/** Does the same for objects of one place alone. What it changes in the status of policies, the next tick tells. */
export async function reconcileAt(context: Context<Config>, kinds: readonly HeldKind[], place: Place): Promise<void> {
  const started = monotonicMs();
  const { done, unread, unstruck, findings } = await hold(context, kinds, place);
  await tell(
    context,
    findings.map((each) => ({ steps: holdNews(each, { done, unread }) })),
  );
  observeDuration(context, 'objects', started);
  throwTransient([...done, ...unread, { failure: unstruck }]);
}

function observeDuration({ metrics }: Context<Config>, controller: 'policies' | 'objects', started: number): void {
  const name = 'freeze_operator_reconciliation_duration_seconds';
  const help = 'Time to bring everything, or the objects of one place, into line with the policies.';
  const seconds = metrics.inherited.seconds(name, help, { labels: ['controller'] });
  seconds.observe((monotonicMs() - started) / 1000, { controller });
}

interface Held {
  /** What was done, and what failed in the end. */
  readonly done: readonly Done[];
  readonly unread: readonly Unread[];
  /** Why what was given back is still written down. */
  readonly unstruck: Failure | undefined;
  readonly findings: readonly Findings[];
}

const tries = 3;

/** Where somebody was faster, it looks again: what is done by then is not repeated, and is told with the rest. */
async function hold(context: Context<Config>, kinds: readonly HeldKind[], place: Place): Promise<Held> {
  const { kube, config: settings } = context;
  const earlier: Done[] = [];
  for (let attempt = 1; ; attempt += 1) {
    let observed = await observe(context, kinds, place);
    const now = context.now().getTime();
    let decisions = decideAll(observed, now);
    if (decisions.some(isChange)) {
      observed = await withPoliciesOfNow(kube, observed);
      decisions = decideAll(observed, now);
    }
    const { done, failure: unstruck } = await act(context, decisions, observed);
    const failures = [...done, { failure: unstruck }];
    if (attempt === tries || !failures.some(({ failure }) => failure?.kind === 'conflict')) {
      const { unread } = observed;
      for (const { kind, failure } of unread) {
        context.log.warn({ err: failure, kind: kind.resource.kind }, 'objects can not be read, they stay as they are');
      }
      const findings = findingsOf(observed, { done, now, settings });
      return { done: [...earlier, ...done], unread, unstruck, findings };
    }
    earlier.push(...done.filter(({ step, failure }) => step !== undefined && failure === undefined));
  }
}

/** Whether something is to be written: to the object, or to what is written down about it. */
function isChange({ step, after }: Decision): boolean {
  return step !== undefined || after === undefined;
}

/** While a policy can't be read nothing is let go: it may well be what the policy wants held. */
function decideAll({ rules, unreadable, candidates, namespaces, ledger }: Observed, now: number): readonly Decision[] {
  const denying = rules.filter((rule) => rule.denying(now).on);
  const decisions = candidates.flatMap((each) => decideHolds(each, { denying, namespaces, ledger }));
  return unreadable.length === 0
    ? decisions
    : decisions.map((each) => (each.after === undefined ? withheld(each) : each));
}

function withheld({ step: _step, ...decision }: Decision): Decision {
  return { ...decision, isWithheld: true };
}

/** Events before the status, which says that they are told. */
function planTelling(findings: Findings, course: Course, now: number): Plan {
  const steps: readonly (Step | undefined)[] = [
    transitionNews(findings),
    problemNews(findings),
    ...holdNews(findings, course),
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

/** What another try may heal is for the sender of the event; what it can't is told in Events of the policy. */
function throwTransient(course: readonly { readonly failure?: Failure | undefined }[]): void {
  throwFirst(course.flatMap(({ failure }) => failure ?? []).filter(({ kind }) => handling[kind].retry));
}

function throwFirst([first]: readonly Failure[]): void {
  if (first !== undefined) {
    throw first;
  }
}
