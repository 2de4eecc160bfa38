import { never, once, type Intervals } from './intervals.ts';
import type { FreezeException } from './policy.ts';
import type { Problem } from './problem.ts';
import { readInterval } from './rule.ts';
import { readTarget, type Coverage } from './target.ts';

/** A FreezeException, read once to be asked often. */
export interface Exception {
  readonly name: string;
  readonly policy: FreezeException;
  readonly coverage: Coverage;
  readonly active: Intervals;
  readonly problems: readonly Problem[];
}

/** Reads an exception. One that doesn't say when it ends is not active. */
export function readException(policy: FreezeException): Exception {
  const problems: Problem[] = [];
  const { activeFrom, activeTo, allow, target } = policy.spec;
  const interval = readInterval({ activeFrom, activeTo }, problems);
  if (interval !== undefined && interval[0] >= interval[1]) {
    problems.push({ reason: 'EvaluationFailed', message: 'spec.activeTo must be after spec.activeFrom' });
  }
  if (allow.length === 0) {
    problems.push({ reason: 'EvaluationFailed', message: 'spec.allow: must specify at least one action' });
  }
  return {
    name: policy.metadata?.name ?? '',
    policy,
    coverage: readTarget(target, problems),
    active: interval === undefined ? never : once(...interval),
    problems,
  };
}
