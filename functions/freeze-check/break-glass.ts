import type { Context } from '../../lib/function/definition.ts';
import { subjectAccessReviews, type SubjectAccessReview } from '../../lib/kube/model/resource.ts';
import type { UserInfo } from '../../lib/kube/model/review.ts';
import type { Config } from './config.ts';
import type { Objection } from './decide.ts';
import { changeFreezes, group, maintenanceWindows } from './policy.ts';
import { inTime } from './reading.ts';
import type { Rule } from './rule.ts';

/** On a workload: why it has to change in spite of a freeze. */
export const bypassAnnotation = 'freeze-check.kube-reflex.dev/bypass-reason';

/**
 * Whether the caller may pass all these policies. That it can't be found out is no permission. A GitOps controller may not,
 * whatever its rights: the reason that it brings was written by whoever may commit.
 */
export async function mayBypass(
  context: Context<Config>,
  user: UserInfo,
  objections: readonly Objection[],
): Promise<boolean> {
  const { kube, config, log } = context;
  if (user.groups?.some((each) => config.GITOPS_GROUPS.includes(each)) === true) {
    return false;
  }
  if (config.BREAK_GLASS !== 'rbac') {
    return config.BREAK_GLASS === 'annotation';
  }
  try {
    const asking = objections.map(({ rule }) => kube.ask(subjectAccessReviews, question(user, rule)));
    const answers = await inTime(context, Promise.all(asking), 'who may bypass the policies');
    return answers.every(({ status }) => status?.allowed === true);
  } catch (error) {
    log.warn({ err: error }, 'who may bypass a policy can not be found out, nobody may');
    return false;
  }
}

function question(
  { username = '', uid = '', groups = [], extra = {} }: UserInfo,
  { kind, name }: Rule,
): SubjectAccessReview {
  const { plural } = kind === 'ChangeFreeze' ? changeFreezes : maintenanceWindows;
  return {
    spec: {
      user: username,
      uid,
      groups: [...groups],
      extra: structuredClone(extra) as Record<string, string[]>,
      resourceAttributes: { verb: 'bypass', group, resource: plural, name },
    },
  };
}
