import { renderRules } from '../../../render/render.ts';
import type { Match, Rule } from '../../../rule.ts';
import type { Type } from './message.ts';
import { observed } from './model.ts';
import { key } from './render.ts';
import type { CoreDns } from './site.ts';
import { ingress, other, targets } from './world.ts';

export const toIngress = `target ${targets[ingress].A}`;
export const toOther = `target ${targets[other].A}`;

export function rule(
  text: string,
  target: string = ingress,
  match: Match = text.startsWith('*.') ? 'label' : 'exact',
): Rule {
  return { host: text.replace(/^\*\./, ''), match, target };
}

/** What `rendered` gives where the place does not matter. */
export function files(rules: readonly Rule[], mode: 'exact' | 'grouped' | 'template'): Record<string, string> {
  return { ...renderRules(rules, { mode, key }) };
}

export async function outcome({ dns }: CoreDns, name: string, type: Type = 'A'): Promise<string> {
  return observed(await dns.ask(name, type), name, type);
}
