import type { Plan, Step } from '../../lib/kube/model/plan.ts';
import { mutatingPolicies, mutatingPolicyBindings, type Resource } from '../../lib/kube/model/resource.ts';
import type { KubeObject } from '../../lib/kube/model/wire.ts';
import type { Policy } from './render-policy.ts';
import { isRecord } from '../../lib/base/json.ts';

/** What of the policy there is in the cluster. */
export interface PolicyFound {
  readonly policy: KubeObject | undefined;
  readonly binding: KubeObject | undefined;
}

/** Applies what differs; without its binding the policy does nothing. */
export function planPolicy(found: PolicyFound, { policy, binding, skipped }: Policy): Plan {
  return {
    steps: [
      ...applied(mutatingPolicies, found.policy, policy, isSame(specOf(found.policy), policy.spec)),
      ...applied(mutatingPolicyBindings, found.binding, binding, isSame(specOf(found.binding), binding.spec)),
    ],
    skipped,
  };
}

function applied(resource: Resource, present: KubeObject | undefined, object: KubeObject, same: boolean): Step[] {
  const why = present === undefined ? 'there is none' : 'the rules ask for another';
  return present !== undefined && same ? [] : [{ do: 'apply', resource, object, force: true, why }];
}

function specOf(object: KubeObject | undefined): unknown {
  return (object as { readonly spec?: unknown } | undefined)?.spec;
}

/** Whether the first has all that the second has; the API server fills in fields of its own. Lists must be equal. */
function isSame(present: unknown, wanted: unknown): boolean {
  if (Array.isArray(wanted)) {
    return (
      Array.isArray(present) &&
      present.length === wanted.length &&
      wanted.every((item, index) => isSame(present[index], item))
    );
  }
  if (isRecord(wanted)) {
    return isRecord(present) && Object.entries(wanted).every(([key, value]) => isSame(present[key], value));
  }
  return present === wanted;
}
