import type { Knowledge, ReadyRule } from './knowledge.ts';
import type { Candidate } from './match.ts';
import { lacks, type Additions } from './patch.ts';
import { includesExpression, prefers, tolerates, type Placement } from './placement.ts';

/** What there is to know about a pod before rules are asked. */
export interface Subject {
  readonly placement: Placement;
  /** It can run on one node only. */
  readonly pinned: boolean;
}

/** What became of a rule that matches. */
export type RuleOutcome = 'applied' | 'already-present' | 'pool-absent' | 'pinned';

/** What the rules asked so far add; grows from rule to rule. */
export type Growing = {
  readonly [Key in keyof Additions]: Additions[Key] extends readonly (infer Item)[] ? Item[] : Record<string, string>;
};

export function noAdditions(): Growing {
  return { preferred: [], required: [], tolerations: [], annotations: {} };
}

/** A namespace that names its own pool gets that, in place of all rules. */
export function rulesFor({ facts }: Candidate, { rules, overrides }: Knowledge): readonly ReadyRule[] {
  const own = facts?.pool === undefined ? undefined : overrides.get(facts.pool);
  return own === undefined ? rules : [own];
}

/** Adds what a matching rule asks for, as far as neither the pod nor a rule before has it. */
export function applyRule(ready: ReadyRule, { placement, pinned }: Subject, additions: Growing): RuleOutcome {
  const { rule, active, fallback } = ready;
  if (!active) {
    if (fallback !== undefined && placement.annotations?.[fallback.key] === undefined) {
      additions.annotations[fallback.key] = fallback.value;
    }
    return 'pool-absent';
  }
  if (rule.mode === 'required' && pinned) {
    return 'pinned';
  }
  const added = addNodes(ready, placement, additions) + addTolerations(ready, placement, additions);
  return added > 0 ? 'applied' : 'already-present';
}

function addNodes({ rule, preference }: ReadyRule, placement: Placement, { preferred, required }: Growing): number {
  const { matchExpressions } = rule.term;
  if (rule.mode === 'required') {
    const missing = matchExpressions.filter(
      (expression) => lacks(placement, expression) && !includesExpression(required, expression),
    );
    required.push(...missing);
    return missing.length;
  }
  const present = prefers(placement.preferred ?? [], matchExpressions) || prefers(preferred, matchExpressions);
  if (!present) {
    preferred.push(preference);
  }
  return present ? 0 : 1;
}

function addTolerations({ rule }: ReadyRule, placement: Placement, { tolerations }: Growing): number {
  let added = 0;
  for (const toleration of rule.tolerations) {
    if (!tolerates(placement.tolerations ?? [], toleration) && !tolerates(tolerations, toleration)) {
      tolerations.push(toleration);
      added += 1;
    }
  }
  return added;
}

/** A rule whose pool is away leaves the pod to the rules after it. */
export function endsWith({ rule }: ReadyRule, outcome: RuleOutcome): boolean {
  return rule.stop && (outcome === 'applied' || outcome === 'already-present');
}

const nearness: Readonly<Record<RuleOutcome, number>> = {
  pinned: 1,
  'pool-absent': 2,
  'already-present': 3,
  applied: 4,
};

/** Of several rules the one that came nearest to a change gives the reason. */
export function nearer(outcome: RuleOutcome, than: RuleOutcome | undefined): RuleOutcome {
  return than === undefined || nearness[outcome] > nearness[than] ? outcome : than;
}
