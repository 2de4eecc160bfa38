import type { Context } from '../../lib/function/definition.ts';
import { cronJobs } from '../../lib/kube/model/resource.ts';
import type { Config } from './config.ts';
import { heldCronJobs } from './hold/cron-job.ts';
import { isOwner, ownerOf } from './hold/plan.ts';
import { readPolicies } from './policies.ts';
import { exceptionState, ruleState } from './state.ts';

/** Tells which policies are on and what they suspend, as the cluster has it at this moment: what is gone is not told. */
export async function measure({ kube, metrics, now }: Context<Config>): Promise<void> {
  const active = metrics.inherited.gauge(
    'freeze_operator_active_policies_total',
    'Whether a policy is on: for a MaintenanceWindow, whether a window is open.',
    ['policy_type', 'policy_name'],
  );
  const suspensions = metrics.inherited.gauge(
    'freeze_operator_cronjob_suspensions_total',
    'CronJobs that a policy suspends now.',
    ['policy_type', 'policy_name', 'namespace'],
  );
  active.reset();
  suspensions.reset();
  const [{ rules, exceptions }, { items }] = await Promise.all([readPolicies(kube), kube.listMetadata(cronJobs)]);
  const at = now().getTime();
  for (const rule of rules) {
    const labels = { policy_type: rule.kind.toLowerCase(), policy_name: rule.name };
    active.set(Number(ruleState(rule, at).active), labels);
    const suspended = items.filter((job) => {
      const owner = ownerOf(heldCronJobs, job);
      return owner !== undefined && isOwner(rule, owner);
    });
    for (const [namespace, jobs] of Map.groupBy(suspended, ({ metadata }) => metadata.namespace ?? '')) {
      suspensions.set(jobs.length, { ...labels, namespace });
    }
  }
  for (const exception of exceptions) {
    const labels = { policy_type: 'freezeexception', policy_name: exception.name };
    active.set(Number(exceptionState(exception, at).active), labels);
  }
}
