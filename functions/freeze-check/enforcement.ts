import { enforcementLabel, enforcements, type DenyPolicy, type Enforcement } from './policy.ts';
import type { Labels } from './target.ts';

/** How a policy is enforced in a namespace: as its label says, else as the policy does. */
export function enforcementIn({ spec }: Pick<DenyPolicy, 'spec'>, namespaceLabels: Labels): Enforcement {
  const override = enforcements.find((enforcement) => enforcement === namespaceLabels[enforcementLabel]);
  return override ?? spec.enforcement ?? 'Enforce';
}
