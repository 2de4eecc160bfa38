import { applyRule, endsWith, noAdditions, rulesFor, type RuleOutcome } from './apply.ts';
import { candidateOf, decide, subjectOf, type Asked, type Decision } from './decide.ts';
import type { Knowledge } from './knowledge.ts';
import { recordOf, type Fields } from '../../lib/base/json.ts';

/** A decision with the reasons behind it. */
export interface Explanation extends Decision {
  readonly namespace: unknown;
  /** Whether the function knows the namespace, or believes the API server. */
  readonly namespaceKnown: boolean;
  /** Which rules there are. */
  readonly config: string;
  readonly considered: readonly RuleExplanation[];
}

export interface RuleExplanation {
  readonly rule: string;
  readonly mode: 'preferred' | 'required';
  readonly pool: string;
  readonly poolActive: boolean;
  readonly outcome: RuleOutcome | 'no-match' | 'not-reached';
  /** The condition that does not hold. */
  readonly because?: string;
}

/** Decides as admission does, and tells of every rule what became of it. */
export function explanationOf(request: Asked, knowledge: Knowledge): Explanation {
  const pod = recordOf(request.object) ?? {};
  const namespace = typeof request.namespace === 'string' ? request.namespace : '';
  return {
    ...decide(request, knowledge),
    namespace,
    namespaceKnown: knowledge.namespaces.has(namespace),
    config: knowledge.hash,
    considered: considered(pod, namespace, knowledge),
  };
}

function considered(pod: Fields, namespace: string, knowledge: Knowledge): RuleExplanation[] {
  const candidate = candidateOf(pod, namespace, knowledge);
  const subject = subjectOf(pod, candidate);
  const additions = noAdditions();
  let ended: string | undefined;
  return rulesFor(candidate, knowledge).map((ready): RuleExplanation => {
    const { rule, pool, active } = ready;
    const about = { rule: rule.name, mode: rule.mode, pool, poolActive: active };
    if (ended !== undefined) {
      return { ...about, outcome: 'not-reached', because: `rule ${ended} says stop` };
    }
    const mismatch = ready.mismatch(candidate);
    if (mismatch !== undefined || subject === undefined) {
      return { ...about, outcome: 'no-match', because: mismatch ?? 'unexpected-shape' };
    }
    const outcome = applyRule(ready, subject, additions);
    ended = endsWith(ready, outcome) ? rule.name : undefined;
    return { ...about, outcome };
  });
}
