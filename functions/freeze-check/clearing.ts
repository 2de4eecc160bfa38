import { startOfDay } from '../../lib/time/cron.ts';
import { dayMs, patienceMs, remembered, type Turn } from './intervals.ts';
import type { Rule } from './rule.ts';

/** Bounds the work where policies take turns for months. */
const mostLooks = 2_000;

/** The earliest instant from `now` on at which none of the policies denies. Each one's own end is no answer: another may begin before. */
export type Clearing = (rules: readonly Rule[], now: number) => number | undefined;

/** How many sets of policies to remember: one for each sort of workloads that are refused. */
const mostSets = 100;

/** Finds out when policies are clear, and keeps what it found for as long as it holds: all who are refused meanwhile ask the same. */
export function createClearing(): Clearing {
  const met: { readonly rules: readonly Rule[]; readonly clear: (now: number) => Turn }[] = [];
  return (rules, now) => {
    const known = met.find((each) => isSameList(each.rules, rules));
    if (known !== undefined) {
      return known.clear(now).at;
    }
    const clear = remembered((at) => clearAfter(rules, at));
    if (met.length === mostSets) {
      met.pop();
    }
    met.unshift({ rules, clear });
    return clear(now).at;
  };
}

function isSameList(a: readonly Rule[], b: readonly Rule[]): boolean {
  return a.length === b.length && a.every((rule, index) => rule === b[index]);
}

/** Looks as far from every moment of a day, as `nextTurn` does. */
function clearAfter(rules: readonly Rule[], now: number): Turn {
  const today = startOfDay(now);
  let at = now;
  let clear = 0;
  for (let look = 0; clear < rules.length; look += 1) {
    const rule = rules[look % rules.length];
    const turn = rule?.denying(at).on === true ? rule.turnAfter(at) : at;
    if (turn === undefined || turn > today + patienceMs || look > mostLooks) {
      return { until: today + dayMs };
    }
    clear = turn === at ? clear + 1 : 1;
    at = turn;
  }
  return { at, until: at };
}
