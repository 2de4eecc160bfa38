import type { Context } from '../../lib/function/definition.ts';
import type { Verdict } from '../../lib/function/admission.ts';
import { monotonicMs } from '../../lib/base/monotonic.ts';
import type { AdmissionRequest } from '../../lib/kube/model/review.ts';
import type { Config } from './config.ts';
import { headline } from './decide.ts';
import { judge, type Judged, type Judgement } from './judge.ts';
import { announcement, refusal, syncRefusal, title, wouldRefuse } from './message.ts';
import { record } from './record.ts';
import { currentClearing } from './snapshot.ts';

/** Answers a review about a workload. */
export async function admitWorkload(request: AdmissionRequest, context: Context<Config>): Promise<Verdict> {
  const started = monotonicMs();
  const judgement = await judge(request, context);
  const verdict = verdictOf(judgement, request, context);
  record({ request, judgement, verdict, seconds: (monotonicMs() - started) / 1000 }, context);
  return verdict;
}

function verdictOf(judgement: Judgement, request: AdmissionRequest, context: Context<Config>): Verdict {
  switch (judgement.is) {
    case 'foreign':
      return { allow: true };
    case 'bypass':
      return { allow: true, auditAnnotations: { decision: 'bypass', reason: judgement.reason } };
    case 'error': {
      const { code, message } = judgement;
      return { allow: false, code, reason: code === 400 ? 'BadRequest' : 'InternalError', message };
    }
    case 'judged':
      return answer(judgement, request, context);
  }
}

function answer(judged: Judged, { userInfo }: AdmissionRequest, context: Context<Config>): Verdict {
  const { config } = context;
  const { decision, question, bypassReason } = judged;
  const { objections, exception } = decision;
  const warnings = warningsOf(judged);
  const first = headline(question.change, objections);
  if (first === undefined) {
    return { allow: true, warnings };
  }
  const { action, objection } = first;
  const about = { policy: title(objection.rule), action };
  if (exception !== undefined) {
    const { ticketURL = '' } = exception.policy.spec;
    const ticket = ticketURL === '' ? {} : { ticket: ticketURL };
    return {
      allow: true,
      warnings,
      auditAnnotations: { decision: 'exception', ...about, exception: exception.name, ...ticket },
    };
  }
  if (bypassReason !== undefined) {
    return { allow: true, warnings, auditAnnotations: { decision: 'break-glass', ...about, reason: bypassReason } };
  }
  const isSync = userInfo.groups?.some((group) => config.GITOPS_GROUPS.includes(group)) ?? false;
  const clear = currentClearing(context);
  return {
    allow: false,
    message: isSync ? syncRefusal(objection) : refusal(objection, clear(decision.enforced, question.now)),
    causes: objections.map(({ rule }) => ({
      reason: rule.kind,
      field: rule.name,
      message: rule.turnText(question.now) ?? 'no end in sight',
    })),
    warnings,
    auditAnnotations: { decision: 'denied', ...about },
  };
}

function warningsOf({ decision, question }: Judged): readonly string[] {
  return [
    ...decision.warnings.map(wouldRefuse),
    ...decision.upcoming.map((rule) => announcement(rule, rule.denying(question.now).until)),
  ];
}
