import type { Operation } from 'fast-json-patch';
import { pointer } from '../../../lib/kube/model/plan.ts';
import type { KubeObject } from '../../../lib/kube/model/wire.ts';
import { annotation, annotationOf, type Change, type HeldKind } from './kind.ts';

/** What a CronJob, a Kustomization and a HelmRelease have in common: they rest while `spec.suspend` is true. */
export interface Suspendable extends KubeObject {
  readonly spec?: { readonly suspend?: boolean | undefined };
}

const field = pointer('spec', 'suspend');

/** There may be no spec to put it into. */
function suspended({ spec }: Suspendable): Operation {
  return spec === undefined
    ? { op: 'add', path: pointer('spec'), value: { suspend: true } }
    : { op: 'add', path: field, value: true };
}

export const suspension: Pick<HeldKind<Suspendable>, 'isStill' | 'stop' | 'stopAgain'> = {
  isStill,
  stop: (object) => ({
    operations: isStill(object) ? [] : [suspended(object)],
    annotations: { [annotation.suspend]: String(isStill(object)) },
  }),
  // What was noted stays: whoever wants another value after the freeze changes the annotation.
  stopAgain: (object) => ({ operations: [suspended(object)], annotations: {} }),
};

function isStill({ spec }: Suspendable): boolean {
  return spec?.suspend === true;
}

/** The noted value as the API server's own default spells it: always there. */
export function restoreSuspend(object: Suspendable): Change {
  return restored(object, [{ op: 'add', path: field, value: wasSuspended(object) }]);
}

/** The same for kinds whose controllers never write `false`: then the field goes, as `flux resume` leaves it. */
export function restoreOptionalSuspend(object: Suspendable): Change {
  const removal = object.spec?.suspend === undefined ? [] : [{ op: 'remove', path: field } as const];
  return restored(object, wasSuspended(object) ? [suspended(object)] : removal);
}

function restored(object: Suspendable, operations: Change['operations']): Change {
  const changes = object.spec?.suspend !== wasSuspended(object);
  return { operations: changes ? operations : [], annotations: { [annotation.suspend]: undefined } };
}

function wasSuspended(object: Suspendable): boolean {
  return annotationOf(object, annotation.suspend) === 'true';
}
