import { groupRules, type Group } from './render-pattern.ts';
import type { Rule } from './rule.ts';

/** Questions that lead to the target; all others (MX, TXT, NS, SOA, CAA, …) are answered as if we were not there. */
const types = ['A', 'AAAA'] as const;

/** Seconds for which a client may keep the CNAME. */
const timeToLive = 30;

/** One `template` per type and run of groups with the same target; the first that matches answers, the others pass on. */
export function renderTemplates(rules: readonly Rule[]): readonly string[] {
  return runsOfTarget(groupRules(rules)).flatMap((run) => types.flatMap((type) => renderTemplate(type, run)));
}

interface Run {
  readonly target: string;
  readonly patterns: string[];
}

function renderTemplate(type: string, { target, patterns }: Run): readonly string[] {
  return [
    `template IN ${type} {`,
    ...patterns.map((pattern) => `    match ${pattern}`),
    `    answer "{{ .Question.Name }} ${timeToLive} IN CNAME ${target}"`,
    '    fallthrough',
    '}',
  ];
}

function runsOfTarget(groups: readonly Group[]): readonly Run[] {
  const runs: Run[] = [];
  for (const { target, pattern } of groups) {
    const last = runs.at(-1);
    if (last?.target === target) {
      last.patterns.push(pattern);
    } else {
      runs.push({ target, patterns: [pattern] });
    }
  }
  return runs;
}
