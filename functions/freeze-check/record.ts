import type { Context } from '../../lib/function/definition.ts';
import type { Verdict } from '../../lib/function/admission.ts';
import type { AdmissionRequest } from '../../lib/kube/model/review.ts';
import type { Config } from './config.ts';
import { headline, type Objection } from './decide.ts';
import { tellAudited, tellDenied, tellPassed } from './denial-news.ts';
import type { Judged, Judgement } from './judge.ts';
import { reasonOf, title } from './message.ts';
import type { Action } from './policy.ts';
import { policyAge } from './snapshot.ts';

export interface Answered {
  readonly request: AdmissionRequest;
  readonly judgement: Judgement;
  readonly verdict: Verdict;
  readonly seconds: number;
}

/** Counts and logs what came of a review, and tells those who look at the namespace. */
export function record({ request, judgement, verdict, seconds }: Answered, context: Context<Config>): void {
  const { metrics } = context;
  const outcome = judgement.is === 'judged' ? (verdict.allow ? 'allowed' : 'denied') : judgement.is;
  metrics
    .seconds('admission_seconds', 'Time to judge a review.', { labels: ['outcome'] })
    .observe(seconds, { outcome });
  if (judgement.is === 'bypass') {
    countBypass(context, judgement.reason);
  } else if (judgement.is === 'judged') {
    const age = metrics.gauge(
      'policy_read_age_seconds',
      'How old the policies were that the last review was judged by.',
    );
    age.set(policyAge(context) ?? 0);
    recordJudged(judgement, request, context);
  }
}

function countBypass({ metrics }: Context<Config>, reason: string): void {
  metrics.counter('bypass_total', 'Reviews that passed without asking the policies.', ['reason']).add(1, { reason });
}

function recordJudged(judged: Judged, request: AdmissionRequest, context: Context<Config>): void {
  const { decision, question, bypassReason } = judged;
  countUnenforced([...decision.warnings, ...decision.audits], context);
  for (const objection of decision.audits) {
    tellAudited(judged, request, objection, context);
  }
  const first = headline(question.change, decision.objections);
  if (first === undefined) {
    countAllowed(judged, judged.change.actions[0], context);
  } else if (decision.exception === undefined && bypassReason === undefined) {
    recordDenial(first, judged, request, context);
  } else {
    countAllowed(judged, first.action, context);
    recordOverride(first.objection, judged, request, context);
  }
}

function countAllowed({ namespace, change }: Judged, action: Action | undefined, { metrics }: Context<Config>): void {
  metrics.inherited
    .counter('freeze_operator_allowed_requests_total', 'Changes that policies were asked about and that passed.', [
      'namespace',
      'kind',
      'action',
    ])
    .add(1, { namespace, kind: change.kind, action: action ?? '' });
}

/** What passed although policies refuse it: by an exception, or by a caller who may. */
function recordOverride(
  objection: Objection,
  judged: Judged,
  request: AdmissionRequest,
  context: Context<Config>,
): void {
  const { exception } = judged.decision;
  if (exception === undefined) {
    countBypass(context, 'break-glass');
    context.log.warn(
      { ...factsOf(judged, request), policy: title(objection.rule), reason: judged.bypassReason },
      'passed by break-glass',
    );
    tellPassed(judged, request, objection, context);
    return;
  }
  const { kind, name } = objection.rule;
  context.metrics.inherited
    .counter('freeze_operator_exception_overrides_total', 'Changes that passed by an exception.', [
      'exception_name',
      'policy_type',
      'policy_name',
    ])
    .add(1, { exception_name: exception.name, policy_type: kind, policy_name: name });
}

function recordDenial(
  { action, objection }: { readonly action: Action; readonly objection: Objection },
  judged: Judged,
  request: AdmissionRequest,
  context: Context<Config>,
): void {
  const { namespace, change } = judged;
  const { rule } = objection;
  context.metrics.inherited
    .counter('freeze_operator_denied_requests_total', 'Changes that a policy refused.', [
      'policy_type',
      'policy_name',
      'namespace',
      'kind',
      'action',
    ])
    .add(1, { policy_type: rule.kind, policy_name: rule.name, namespace, kind: change.kind, action });
  context.log.info({ ...factsOf(judged, request), action, policy: title(rule), reason: reasonOf(rule) }, 'denied');
  tellDenied(judged, request, objection, context);
}

function factsOf(
  { namespace, change }: Judged,
  { uid, userInfo }: AdmissionRequest,
): Readonly<Record<string, unknown>> {
  return { uid, namespace, kind: change.kind, name: change.name, user: userInfo.username };
}

/** What a policy that is only watching would have refused. */
function countUnenforced(objections: readonly Objection[], { metrics }: Context<Config>): void {
  for (const { rule } of objections) {
    metrics
      .counter('would_deny_total', 'Changes that a policy would have refused if it were enforced.', [
        'policy_type',
        'policy_name',
      ])
      .add(1, { policy_type: rule.kind, policy_name: rule.name });
  }
}
