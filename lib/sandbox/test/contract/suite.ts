import type { Target } from './client.ts';
import { accessCases } from './access.ts';
import { applyCases } from './apply.ts';
import { customKindCases } from './custom-kinds.ts';
import { customRuleCases } from './custom-rules.ts';
import { customSchemaCases } from './custom-schemas.ts';
import { deletionCases } from './deletion.ts';
import { discoveryCases } from './discovery.ts';
import { dryRunCases } from './dry-run.ts';
import { evictionCases } from './eviction.ts';
import { fieldValidationCases } from './field-validation.ts';
import { garbageCases } from './garbage.ts';
import { historyCases } from './history.ts';
import { identityCases } from './identity.ts';
import { managerCases } from './managers.ts';
import { matchingCases } from './matching.ts';
import { mutatingCases } from './mutating.ts';
import { namespaceCases } from './namespaces.ts';
import { objectCases } from './objects.ts';
import { pagingCases } from './paging.ts';
import { patchCases } from './patch.ts';
import { replaceCases } from './replace.ts';
import { selectorCases } from './selectors.ts';
import { strategicCases } from './strategic.ts';
import { subresourceCases } from './subresources.ts';
import { validatingCases } from './validating.ts';
import { watchCases } from './watch.ts';
import { workloadCases } from './workloads.ts';

const topics = [
  objectCases,
  replaceCases,
  selectorCases,
  pagingCases,
  watchCases,
  patchCases,
  strategicCases,
  applyCases,
  managerCases,
  dryRunCases,
  deletionCases,
  namespaceCases,
  garbageCases,
  subresourceCases,
  evictionCases,
  workloadCases,
  fieldValidationCases,
  customKindCases,
  customSchemaCases,
  customRuleCases,
  mutatingCases,
  validatingCases,
  matchingCases,
  identityCases,
  accessCases,
  discoveryCases,
  historyCases,
];

/**
 * What Kubernetes does, as cases that any target must pass: the real API server shows that they are true, the sandbox
 * that it behaves alike. The target must enforce RBAC and collect garbage.
 */
export function apiContract(target: () => Target): void {
  for (const cases of topics) {
    cases(target);
  }
}
