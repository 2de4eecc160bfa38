import { groupRules, type Group } from './pattern.ts';
import type { Rule } from '../rule.ts';

/** Questions that lead to the target; all others (MX, TXT, NS, SOA, CAA, …) are answered as if we were not there. */
const types = ['A', 'AAAA'] as const;

/** Seconds for which a client may keep an answer. */
export const timeToLive = 30;

/** Templates for rules in a block that answers for other names too. */
export function renderTemplates(rules: readonly Rule[]): readonly string[] {
  return templatesOf(groupRules(rules));
}

/** One `template` per type and run of groups with the same target; the first that matches answers, the others pass on. */
export function templatesOf(groups: readonly Group[], zone?: '.'): readonly string[] {
  return runsOfTarget(groups).flatMap((run) => types.flatMap((type) => renderTemplate(type, run, zone)));
}

interface Run {
  readonly target: string;
  readonly patterns: string[];
}

function renderTemplate(type: string, { target, patterns }: Run, zone: '.' | undefined): readonly string[] {
  return [
    `template IN ${type}${zone === undefined ? '' : ` ${zone}`} {`,
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
