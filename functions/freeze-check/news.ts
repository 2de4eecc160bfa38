import type { EventStep } from '../../lib/kube/model/plan.ts';
import { eventAbout, type News } from '../../lib/kube/model/event.ts';
import { formatInstant } from '../../lib/time/instant.ts';
import type { FreezeExceptionSpec } from './policy.ts';
import type { Findings } from './status.ts';
import { problemText } from './wording.ts';

/**
 * The Event of a transition, if this pass is the first to see one. It has one name for each transition, so two replicas
 * tell it once; and it is told before the status says so, so a death in between loses nothing.
 */
export function transitionNews(findings: Findings): EventStep | undefined {
  const { policy, state } = findings;
  const before = policy.status?.conditions?.find(({ type }) => type === 'Active');
  if (state.active === (before?.status === 'True')) {
    return undefined;
  }
  return newsAbout(findings, { ...(state.active ? begun(findings) : ended(findings)), occasion: occasionOf(findings) });
}

/** What is wrong with a policy, told when the status does not say so yet. */
export function problemNews(findings: Findings): EventStep | undefined {
  const { policy, problems } = findings;
  const note = problemText(problems);
  const isTold = policy.status?.conditions?.some(({ type, message }) => type === 'Ready' && message === note) ?? false;
  return note === '' || isTold ? undefined : newsAbout(findings, { type: 'Warning', reason: 'EvaluationFailed', note });
}

/** When the present state began; where the schedule doesn't tell, as after an edit of the policy, when the one before it did. */
export function occasionOf({ policy, state }: Findings): string {
  const before = policy.status?.conditions?.find(({ type }) => type === 'Active')?.lastTransitionTime;
  const isScheduled = state.since !== undefined && (before === undefined || state.since > Date.parse(before));
  return isScheduled ? formatInstant(state.since) : `after ${before ?? 'nothing'}`;
}

export function newsAbout({ policy, resource }: Findings, news: News): EventStep {
  return eventAbout(resource, policy, news);
}

function begun({ kind, policy, state }: Findings): News {
  const until = state.until === undefined ? '' : ` until ${formatInstant(state.until)}`;
  switch (kind) {
    case 'ChangeFreeze':
      return { type: 'Warning', reason: 'Activated', note: `Change freeze activated${until}` };
    case 'MaintenanceWindow':
      return {
        type: 'Normal',
        reason: 'Activated',
        note: `Maintenance window '${state.activeWindow?.name ?? ''}' activated`,
      };
    case 'FreezeException': {
      const { reason, approvedBy = '' } = policy.spec as FreezeExceptionSpec;
      return {
        type: 'Normal',
        reason: 'Activated',
        note: `Exception activated: ${reason} (approved by: ${approvedBy})`,
      };
    }
  }
}

function ended({ kind }: Findings): News {
  const notes = {
    ChangeFreeze: 'Change freeze deactivated',
    MaintenanceWindow: 'Maintenance window deactivated',
    FreezeException: 'Exception expired',
  };
  return { type: 'Normal', reason: 'Deactivated', note: notes[kind] };
}
