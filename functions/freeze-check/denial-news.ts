import type { Context } from '../../lib/function/definition.ts';
import { memoryKey } from '../../lib/function/memory.ts';
import type { EventStep } from '../../lib/kube/model/plan.ts';
import type { AdmissionRequest } from '../../lib/kube/model/review.ts';
import type { Config } from './config.ts';
import type { Objection } from './decide.ts';
import type { Judged } from './judge.ts';
import { refusal, title, wouldRefuse } from './message.ts';

/** The same news about the same workload is told once in this time. */
const quietMs = 600_000;
const mostRemembered = 1_000;

/** When each piece of news was told last, as far as this replica knows. */
const reported = memoryKey(() => new Map<string, number>());

/** Tells those who look at the namespace that a change was refused. */
export function tellDenied(
  judged: Judged,
  request: AdmissionRequest,
  objection: Objection,
  context: Context<Config>,
): void {
  tell({ type: 'Warning', reason: 'ChangeDenied', note: refusal(objection, undefined) }, judged, request, context);
}

/** Tells what a policy would have refused that nobody else hears of. */
export function tellAudited(
  judged: Judged,
  request: AdmissionRequest,
  objection: Objection,
  context: Context<Config>,
): void {
  tell({ type: 'Normal', reason: 'ChangeAudited', note: wouldRefuse(objection) }, judged, request, context);
}

/** Tells that somebody passed a policy by giving a reason. */
export function tellPassed(
  judged: Judged,
  request: AdmissionRequest,
  { rule }: Objection,
  context: Context<Config>,
): void {
  const note = `${request.userInfo.username ?? ''} passed ${title(rule)}: ${judged.bypassReason ?? ''}`;
  tell({ type: 'Warning', reason: 'FreezeBypassed', note }, judged, request, context);
}

/** After the answer, and not at all for a rehearsal: the review itself has no side effects. */
function tell(
  news: Pick<EventStep, 'type' | 'reason' | 'note'>,
  { change, namespace }: Judged,
  { kind, dryRun = false }: AdmissionRequest,
  context: Context<Config>,
): void {
  const { name, workload } = change;
  const key = [news.reason, news.note, change.kind, namespace, name].join(' ');
  const now = context.now().getTime();
  const known = context.memory(reported);
  if (dryRun || name === '' || now < (known.get(key) ?? -Infinity) + quietMs) {
    return;
  }
  if (known.size >= mostRemembered) {
    known.clear();
  }
  known.set(key, now);
  const about = {
    apiVersion: kind.kind === 'Scale' ? 'apps/v1' : `${kind.group}/${kind.version}`,
    kind: change.kind,
    metadata: { namespace, name, ...(workload.metadata.uid === undefined ? {} : { uid: workload.metadata.uid }) },
  };
  const step: EventStep = { do: 'event', about, ...news };
  context.later(`event ${key}`, context.now(), async ({ kube, log }) => {
    // Nobody depends on it, so it is not tried again.
    await kube.run({ steps: [step] }).catch((error: unknown) => log.debug({ err: error }, 'event not written'));
  });
}
