import type { Rule } from './rule.ts';

/** Policies that follow each other without a break for longer than this have no end worth telling. */
const patienceMs = 400 * 86_400_000;

/** Bounds the work where many policies take turns for months. */
const mostLooks = 10_000;

/** The earliest instant from `now` on at which none of the policies denies. Each one's own end is no answer: another may begin before. */
export function clearAfter(rules: readonly Rule[], now: number): number | undefined {
  let at = now;
  let clear = 0;
  for (let look = 0; clear < rules.length; look += 1) {
    const rule = rules[look % rules.length];
    const turn = rule?.denying(at).on === true ? rule.turnAfter(at) : at;
    if (turn === undefined || turn > now + patienceMs || look > mostLooks) {
      return undefined;
    }
    clear = turn === at ? clear + 1 : 1;
    at = turn;
  }
  return at;
}
