import type { Context } from '../../lib/function/definition.ts';
import { deployments, statefulSets, type Resource } from '../../lib/kube/model/resource.ts';
import type { AdmissionRequest } from '../../lib/kube/model/review.ts';
import { bypassAnnotation, mayBypass } from './break-glass.ts';
import { exemptionOf, placeExemption, type Exemption, type PlaceExemption } from './callers.ts';
import { classify, type Change } from './change.ts';
import type { Config } from './config.ts';
import { decide, type Decision, type Question } from './decide.ts';
import type { Policies } from './policies.ts';
import type { TargetKind } from './policy.ts';
import { inTime, judgedInTime } from './reading.ts';
import { goesBack } from './rollback.ts';
import { currentNamespace, currentPolicies } from './snapshot.ts';

/** What came of a review. */
export type Judgement =
  /** Nobody has to be asked: not a workload, or a part of it that no policy is about. */
  | { readonly is: 'foreign' }
  | { readonly is: 'bypass'; readonly reason: Exemption | PlaceExemption | 'cleanup' | 'noop' }
  | { readonly is: 'error'; readonly code: 400 | 500; readonly message: string }
  | Judged;

/** A change that policies were asked about. */
export interface Judged {
  readonly is: 'judged';
  readonly change: Change;
  readonly namespace: string;
  readonly question: Question;
  readonly decision: Decision;
  readonly policies: Policies;
  /** Given by a caller who may pass the policies that refuse. */
  readonly bypassReason?: string;
}

/** Finds out what a review asks and what the policies say to it. */
export async function judge(request: AdmissionRequest, context: Context<Config>): Promise<Judgement> {
  const classified = classify(request);
  if (classified.is === 'foreign') {
    return classified;
  }
  const exemption = exemptionOf(request.userInfo, classified.is === 'scale', context);
  if (exemption !== undefined) {
    return { is: 'bypass', reason: exemption };
  }
  switch (classified.is) {
    case 'malformed':
      return { is: 'error', code: 400, message: classified.why };
    case 'cleanup':
      return { is: 'bypass', reason: 'cleanup' };
    case 'noop':
      return context.config.NOOP_UPDATES === 'allow'
        ? { is: 'bypass', reason: 'noop' }
        : judgeReadable(classified.change, request, context);
    case 'change':
    case 'scale':
      return judgeReadable(classified.is === 'scale' ? classified.kind : classified.change, request, context);
  }
}

/** What can't be read can't be judged, and what can't be judged does not pass. */
async function judgeReadable(
  asked: Change | TargetKind,
  request: AdmissionRequest,
  context: Context<Config>,
): Promise<Judgement> {
  const { namespace = '', name = '' } = request;
  if (namespace === '' || (typeof asked === 'string' && name === '')) {
    return { is: 'foreign' };
  }
  try {
    return await judgedInTime(context, judgeIn({ namespace, name }, asked, request, context));
  } catch (error) {
    context.log.error({ err: error, uid: request.uid, namespace }, 'not judged');
    return { is: 'error', code: 500, message: `freeze-check: ${error instanceof Error ? error.message : 'failed'}` };
  }
}

async function judgeIn(
  place: Place,
  asked: Change | TargetKind,
  request: AdmissionRequest,
  context: Context<Config>,
): Promise<Judgement> {
  const change = typeof asked === 'string' ? await scaleOf(asked, place, context) : asked;
  return judgeChange(change, { ...request, namespace: place.namespace }, context);
}

interface Place {
  readonly namespace: string;
  readonly name: string;
}

/** A scale carries no labels, so the workload is read. */
async function scaleOf(kind: TargetKind, place: Place, context: Context<Config>): Promise<Change> {
  const resource: Resource = kind === 'Deployment' ? deployments : statefulSets;
  const workload = await inTime(context, context.kube.get(resource, place), `${kind} ${place.name}`);
  if (workload?.metadata === undefined) {
    throw new Error(`there is no ${kind} ${place.namespace}/${place.name} to scale`);
  }
  return { kind, name: place.name, actions: ['SCALE'], workload: { metadata: workload.metadata } };
}

async function judgeChange(
  change: Change,
  { namespace, userInfo }: AdmissionRequest & { readonly namespace: string },
  context: Context<Config>,
): Promise<Judgement> {
  const reading = currentPolicies(context);
  // Asked for at once and needed only later: whether it works is nobody's business in a namespace that goes.
  reading.catch(() => undefined);
  const place = await currentNamespace(context, namespace);
  if (place === undefined) {
    throw new Error(`there is no namespace ${namespace}`);
  }
  const exemption = placeExemption(place, context);
  if (exemption !== undefined) {
    return { is: 'bypass', reason: exemption };
  }
  const question = questionOf(change, userInfo, place.metadata?.labels ?? {}, context.now());
  const judged = { is: 'judged' as const, change, namespace, policies: await reading };
  const decided = await decideWithHistory(question, judged, context);
  const bypassReason = await bypassReasonOf(change, decided.decision, userInfo, context);
  return { ...judged, ...decided, ...(bypassReason === undefined ? {} : { bypassReason }) };
}

/** Why a change that is denied passes all the same, if its author says so and may. */
async function bypassReasonOf(
  change: Change,
  { objections, exception }: Decision,
  user: AdmissionRequest['userInfo'],
  context: Context<Config>,
): Promise<string | undefined> {
  const reason = reasonGiven(change);
  const isDenied = objections.length > 0 && exception === undefined;
  return isDenied && reason !== '' && (await mayBypass(context, user, objections)) ? reason : undefined;
}

/** What an update found there was somebody's reason for an earlier one. A delete and a scale can bring none of their own. */
function reasonGiven({ workload, before }: Change): string {
  const { [bypassAnnotation]: reason = '' } = workload.metadata.annotations ?? {};
  return reason === before?.metadata.annotations?.[bypassAnnotation] ? '' : reason;
}

function questionOf(
  { kind, actions, workload, before }: Change,
  { username = '', groups = [] }: AdmissionRequest['userInfo'],
  namespaceLabels: Question['namespaceLabels'],
  now: Date,
): Question {
  return {
    change: {
      kind,
      actions,
      labels: workload.metadata.labels ?? {},
      ...(before === undefined ? {} : { labelsBefore: before.metadata.labels ?? {} }),
    },
    namespaceLabels,
    user: username,
    groups,
    now: now.getTime(),
  };
}

/** Looks at the history of a workload only where that could change the answer. */
async function decideWithHistory(
  question: Question,
  { change, namespace, policies }: Pick<Judged, 'change' | 'namespace' | 'policies'>,
  context: Context<Config>,
): Promise<Pick<Judged, 'question' | 'decision'>> {
  const { kube, config } = context;
  const decision = decide(question, policies, config.WARN_AHEAD);
  const couldPass = decision.objections.some(
    ({ rule, actions }) => rule.policy.spec.rules.allowRollback === true && actions.includes('ROLL_OUT'),
  );
  const isRollback =
    config.ROLLBACK_LANE && couldPass && (await inTime(context, goesBack(kube, namespace, change), 'the history'));
  if (!isRollback) {
    return { question, decision };
  }
  const rollback = { ...question, goesBack: true };
  return { question: rollback, decision: decide(rollback, policies, config.WARN_AHEAD) };
}
