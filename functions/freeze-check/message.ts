import { formatInstant } from '../../lib/time/instant.ts';
import type { Zone } from '../../lib/time/zone.ts';
import type { Objection } from './decide.ts';
import type { DenyPolicy } from './policy.ts';
import type { Rule } from './rule.ts';

/** `ChangeFreeze/holiday`. */
export function title({ kind, name }: Pick<Rule, 'kind' | 'name'>): string {
  return `${kind}/${name}`;
}

export function reasonOf({ policy: { spec } }: Rule): string {
  const { reason = '' } = spec.message ?? {};
  return reason === '' ? defaultReason(spec) : reason;
}

function defaultReason(spec: DenyPolicy['spec']): string {
  if (!('mode' in spec)) {
    return 'ChangeFreeze is active';
  }
  return spec.mode === 'DenyInsideWindows' ? 'Inside a window without changes' : 'Outside maintenance window';
}

/** For people: who, why, until when, in whose time, and whom to call. The first three parts never change their form. */
export function refusal({ rule, nextAllowed }: Objection, clearAt: number | undefined): string {
  const { contact = '', docsURL = '' } = rule.policy.spec.message ?? {};
  return [
    `Denied by ${title(rule)}`,
    reasonOf(rule),
    ...(nextAllowed === undefined ? [] : [`Next allowed at ${formatInstant(nextAllowed)}`]),
    ...(clearAt === undefined || clearAt === nextAllowed ? [] : [`All policies clear at ${formatInstant(clearAt)}`]),
    ...(nextAllowed === undefined ? [] : localTime(nextAllowed, rule.zone)),
    ...(contact === '' ? [] : [`Contact: ${contact}`]),
    ...(docsURL === '' ? [] : [`Docs: ${docsURL}`]),
  ].join(': ');
}

/** For GitOps tools, which show one line in a narrow place. */
export function syncRefusal({ rule, nextAllowed }: Objection): string {
  const until = rule.kind === 'ChangeFreeze' && nextAllowed !== undefined ? ` until ${formatInstant(nextAllowed)}` : '';
  return `[freeze-operator] sync blocked by ${rule.name}${until}`;
}

/** What a policy that is not enforced yet would have said. */
export function wouldRefuse(objection: Objection): string {
  return oneLine(`not enforced yet: ${refusal(objection, undefined)}`);
}

export function announcement(rule: Rule, begins: number): string {
  return oneLine(`${title(rule)} begins at ${formatInstant(begins)}: ${reasonOf(rule)}`);
}

/** A warning travels as a header, which can't hold a line break. */
function oneLine(text: string): string {
  return text.replaceAll(/\p{Cc}+/gu, ' ');
}

function localTime(instant: number, zone: Zone | undefined): readonly string[] {
  if (zone === undefined || zone.name === 'UTC') {
    return [];
  }
  const { offset } = zone.spanAt(instant);
  const minutes = Math.abs(offset) / 60_000;
  const distance = [Math.floor(minutes / 60), minutes % 60].map((part) => String(part).padStart(2, '0')).join(':');
  const wall = formatInstant(instant + offset).slice(0, -'Z'.length);
  return [`Local time ${wall}${offset < 0 ? '-' : '+'}${distance} ${zone.name}`];
}
