import type { Permission } from '../../function/permissions.ts';
import type { Kube } from '../../kube/client.ts';
import { selfSubjectAccessReviews } from '../../kube/model/resource.ts';
import { inParallel } from '../../base/in-parallel.ts';
import type { Found } from './finding.ts';
import { orFailure } from './look.ts';
import { examineRights, questionsOf, width, type Question } from './rights.ts';

/** Has the account of this process every right that it needs? Costs a call for each. */
export function checkOwnRights(
  permissions: readonly Permission[],
  { kube, namespace }: { readonly kube: Kube; readonly namespace: string },
): Promise<Found[]> {
  const account = 'this account';
  return orFailure(`rights of ${account}`, async () => {
    const questions = questionsOf(permissions, namespace);
    return [examineRights(account, await inParallel(width, questions, (question) => ask(question, kube)))];
  });
}

async function ask(question: Question, kube: Kube): Promise<readonly [Question, boolean]> {
  const { status } = await kube.ask(selfSubjectAccessReviews, {
    metadata: {},
    spec: { resourceAttributes: question },
  });
  return [question, status?.allowed === true];
}
