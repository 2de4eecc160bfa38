import { cronJobs, type CronJob } from '../../../lib/kube/model/resource.ts';
import { annotation, type HeldKind } from './kind.ts';
import { restoreSuspend, suspension } from './suspend.ts';

/** Suspended while a policy that covers CronJobs denies and asks for it. */
export const heldCronJobs: HeldKind<CronJob> = {
  resource: cronJobs,
  family: 'CronJob',
  ownerAnnotation: annotation.cronJobOwner,
  noteAnnotation: annotation.suspend,
  selectedBy: ({ spec: { behavior, target } }) =>
    behavior?.suspendCronJobs === true && target.kinds.includes('CronJob') ? target : undefined,
  ...suspension,
  restore: restoreSuspend,
};
