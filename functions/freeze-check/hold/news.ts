import type { EventStep } from '../../../lib/kube/model/plan.ts';
import { malformation } from '../kinds/conform.ts';
import { newsAbout, occasionOf, transitionNews } from '../news.ts';
import type { DenyPolicy } from '../policy.ts';
import type { Findings } from '../status.ts';
import { driftText, some } from '../wording.ts';
import type { Done } from './act.ts';
import type { HeldKind } from './kind.ts';
import { isOwner } from './plan.ts';
import type { Unread } from './sources.ts';

const failed = { CronJob: 'CronJobUpdateFailed', GitOps: 'GitOpsReconcileFailed' } as const;

/** What became of a pass over the objects. */
export interface Course {
  readonly done: readonly Done[];
  readonly unread: readonly Unread[];
}

/** The Events about what a pass did to objects for this policy, and what it could not do. */
export function holdNews(findings: Findings, { done, unread }: Course): readonly EventStep[] {
  const mine = done.filter(({ step }) => step !== undefined).filter((one) => concerns(findings, one));
  return [
    ...updated(
      findings,
      mine.filter(({ kind, failure }) => kind.family === 'CronJob' && failure === undefined),
    ),
    ...(['CronJob', 'GitOps'] as const).flatMap((family) => {
      const failures = [...mine, ...unread.filter(({ kind }) => isAskedBy(findings, kind))].filter(
        ({ kind, failure }) => kind.family === family && failure !== undefined,
      );
      const note = some(failures.map(({ failure }) => failure?.message ?? ''));
      return failures.length === 0 ? [] : [newsAbout(findings, { type: 'Warning', reason: failed[family], note })];
    }),
    ...drift(findings),
  ];
}

/** Of a policy that can't be read nobody knows what it asks for. */
function isAskedBy({ kind, policy }: Findings, held: HeldKind): boolean {
  const isReadable = kind !== 'FreezeException' && malformation(kind, policy) === undefined;
  return isReadable && held.selectedBy(policy as DenyPolicy) !== undefined;
}

/** Whoever gets the object, or had it last. */
function concerns({ kind, policy }: Findings, { before, after }: Done): boolean {
  const owner = after ?? before;
  const name = policy.metadata?.name ?? '';
  return kind !== 'FreezeException' && owner !== undefined && isOwner({ kind, name }, owner);
}

/** At a transition it is told once, however many replicas share the work; later on for each batch of objects. */
function updated(findings: Findings, changed: readonly Done[]): EventStep[] {
  if (changed.length === 0) {
    return [];
  }
  const [suspended, restored] = [changed.filter(({ after }) => after), changed.filter(({ after }) => !after)];
  const note = [told('Suspended', suspended), told('Restored', restored)].filter((text) => text !== '').join('; ');
  const occasion = transitionNews(findings) === undefined ? {} : { occasion: occasionOf(findings) };
  return [newsAbout(findings, { type: 'Normal', reason: 'CronJobsUpdated', note, ...occasion })];
}

function told(what: string, objects: readonly Done[]): string {
  const names = objects.map(({ object: { metadata } }) => `${metadata?.namespace ?? ''}/${metadata?.name ?? ''}`);
  return names.length === 0 ? '' : `${what} ${some(names)}`;
}

function drift(findings: Findings): EventStep[] {
  const { contested = [], policy } = findings;
  const isTold = policy.status?.conditions?.some(({ type }) => type === 'GitOpsDrift') === true;
  if (contested.length === 0 || isTold) {
    return [];
  }
  return [newsAbout(findings, { type: 'Warning', reason: 'GitOpsDrift', note: driftText(contested) })];
}
