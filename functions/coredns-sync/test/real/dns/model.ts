import type { RenderMode } from '../../../render/render.ts';
import type { Rule } from '../../../rule.ts';
import type { Answer, Type } from './message.ts';
import { targets, type TargetName } from './world.ts';

/** Who answers a question, and with what: the target's address, nothing, or whatever the rest of the world says. */
export type Outcome = `target ${string}` | 'empty' | 'world';

/** How rules are rendered, as far as it shows. */
export interface Manner {
  readonly mode: RenderMode;
  /** Whether `hosts` of this CoreDNS can be told to. */
  readonly passesOtherTypes: boolean;
}

/**
 * What must come out, stated without any pattern: an exact name first, then the wildcard with the longest domain, that of one
 * label before that of several; no wildcard covers a label that begins with an underscore.
 */
export function expected(rules: readonly Rule[], manner: Manner, name: string, type: Type): Outcome {
  if (`${name}.` in targets) {
    return addressOf(`${name}.` as TargetName, type); // nobody may claim a name of the cluster
  }
  const covering = rules.filter((rule) => answers(rule, name.toLowerCase()));
  const rule = covering.toSorted((left, right) => rank(right) - rank(left))[0];
  if (rule === undefined) {
    return 'world';
  }
  if (type !== 'A' && type !== 'AAAA') {
    const covered = covering.some(({ match }) => match !== 'exact');
    return passes(manner, covered) ? 'world' : 'empty';
  }
  return addressOf(rule.target as TargetName, type);
}

function addressOf(target: TargetName, type: Type): Outcome {
  const addresses: Partial<Record<Type, string>> = targets[target];
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

/** Do questions for anything but addresses go on to the rest of the world? Those for wildcards do, wherever they are apart. */
function passes({ mode, passesOtherTypes }: Manner, covered: boolean): boolean {
  return {
    ...{ exact: false, grouped: false, template: true, zoneblocks: true },
    ...{ hosts: covered || passesOtherTypes, zone: covered },
  }[mode];
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
