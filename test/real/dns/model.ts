import type { RenderMode } from '../../../functions/coredns-sync/render.ts';
import type { Rule } from '../../../functions/coredns-sync/rule.ts';
import type { Answer, Type } from './message.ts';
import { targets, type TargetName } from './world.ts';

/** Who answers a question, and with what: the target's address, nothing, or whatever the rest of the world says. */
export type Outcome = `target ${string}` | 'empty' | 'world';

/**
 * What must come out, stated without any pattern: an exact name first, then the wildcard with the longest domain, that of one
 * label before that of several; no wildcard covers a label that begins with an underscore.
 */
export function expected(rules: readonly Rule[], mode: RenderMode, name: string, type: Type): Outcome {
  const rule = winner(rules, name.toLowerCase());
  if (rule === undefined) {
    return 'world';
  }
  const addresses: Partial<Record<Type, string>> = targets[rule.target as TargetName];
  if (type !== 'A' && type !== 'AAAA') {
    return mode === 'template' ? 'world' : 'empty';
  }
  const address = addresses[type];
  return address === undefined ? 'empty' : `target ${address}`;
}

/** What did come out. An address must belong to the name that was asked, directly or through a CNAME. */
export function observed({ code, records }: Answer, name: string, type: Type): string {
  if (code !== 'NOERROR') {
    return String(code);
  }
  const owner = records[0]?.name.toLowerCase();
  if (owner !== undefined && owner !== name.toLowerCase()) {
    return `an answer for ${owner}`;
  }
  const data = records.findLast((record) => record.type === type)?.data;
  if (data === undefined) {
    return 'empty';
  }
  const known = Object.values(targets).flatMap((addresses) => Object.values(addresses) as string[]);
  return known.includes(data) ? `target ${data}` : 'world';
}

function winner(rules: readonly Rule[], name: string): Rule | undefined {
  return rules.filter((rule) => answers(rule, name)).sort((left, right) => rank(right) - rank(left))[0];
}

function answers({ host, match }: Rule, name: string): boolean {
  if (match === 'exact') {
    return name === host;
  }
  const labels = name.endsWith(`.${host}`) ? name.slice(0, -host.length - 1).split('.') : [];
  const several = match === 'suffix' ? labels.length >= 1 : labels.length === 1;
  return several && labels.every((label) => !label.startsWith('_'));
}

function rank({ host, match }: Rule): number {
  return match === 'exact' ? Infinity : host.split('.').length * 2 + Number(match === 'label');
}
