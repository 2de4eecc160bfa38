import type { EventStep } from '../../lib/kube/model/plan.ts';
import { eventAbout } from '../../lib/kube/model/event.ts';
import { resources } from './scan/kinds.ts';
import type { Identity } from './state/state.ts';

/** News about a workload, for those who look at it with kubectl. */
export interface Notice {
  readonly about: Identity;
  readonly reason: NoticeReason;
  readonly note: string;
  /** Of what can happen again: which restart it was. */
  readonly occasion?: string;
}

export type NoticeReason =
  | 'ProxyOutdated'
  | 'RestartTriggered'
  | 'RestartCompleted'
  | 'RestartFailed'
  | 'RestartIneffective'
  | 'RestartDeferred'
  | 'ManualRestartRequired'
  | 'UnknownRevision'
  | 'ConfigInvalid';

const normal: ReadonlySet<NoticeReason> = new Set([
  'ProxyOutdated',
  'RestartTriggered',
  'RestartCompleted',
  'RestartDeferred',
]);

export function eventOf({ about, reason, note, occasion }: Notice): EventStep {
  const { kind, namespace, name, uid } = about;
  return eventAbout(
    resources[kind],
    { metadata: { namespace, name, uid } },
    { type: normal.has(reason) ? 'Normal' : 'Warning', reason, note, ...(occasion !== undefined && { occasion }) },
  );
}
