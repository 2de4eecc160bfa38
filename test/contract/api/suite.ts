import type { Target } from './client.ts';
import { deletionCases } from './deletion.ts';
import { dryRunCases } from './dry-run.ts';
import { historyCases } from './history.ts';
import { objectCases } from './objects.ts';
import { pagingCases } from './paging.ts';
import { patchCases } from './patch.ts';
import { replaceCases } from './replace.ts';
import { selectorCases } from './selectors.ts';
import { strategicCases } from './strategic.ts';
import { watchCases } from './watch.ts';

const topics = [
  objectCases,
  replaceCases,
  selectorCases,
  pagingCases,
  watchCases,
  patchCases,
  strategicCases,
  dryRunCases,
  deletionCases,
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
