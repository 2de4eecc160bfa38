import { anyLabel, prefixes, type Group } from './pattern.ts';
import { renderTemplates, templatesOf, timeToLive } from './template.ts';
import type { Rendered } from './render.ts';
import { isWithin } from '../host.ts';
import { ancestors, type Match, type Rule } from '../rule.ts';
import { compareText } from '../../../lib/base/order.ts';

/** What server blocks of our own must have in common with the root's. Plain JSON. */
export interface BlockFrame {
  /** `:1053`, or nothing where CoreDNS's own port will do. */
  readonly port: string;
  /** Lines that bind the block to the root's address, and that forward what is not ours. */
  readonly lines: readonly string[];
  /** Zones that have a block on this port: a second one would spoil the whole Corefile. */
  readonly taken: readonly string[];
  /** Zones that the root's block answers by itself: a block above one of them would get its questions. */
  readonly inside: readonly string[];
}

/**
 * Server blocks named after the hosts, which CoreDNS finds by a map. A block also gets the questions for names below its own,
 * so its templates count labels. Hosts that have a block already are answered in it, and those above a zone that the root
 * answers by itself in the root's.
 */
export function renderZoneBlocks(rules: readonly Rule[], frame: BlockFrame): Rendered {
  const taken = new Set(frame.taken);
  function mayHaveBlock(host: string): boolean {
    return !taken.has(host) && !frame.inside.some((zone) => isWithin(zone, host));
  }
  const inTheirs = rules.filter(
    ({ host, match }) => !mayHaveBlock(host) || (match !== 'exact' && frame.taken.some((zone) => isWithin(zone, host))),
  );
  const keys = [...new Set(rules.map(({ host }) => host))].filter(mayHaveBlock).sort(compareText);
  const byName = Map.groupBy(rules, ({ host }) => host);
  const blocks = Map.groupBy(keys, (key) => JSON.stringify(answersOf(key, byName)));
  const lines = [...blocks.values()].flatMap((names) => renderBlock(names, answersOf(names[0] ?? '', byName), frame));
  return { lines: renderTemplates(inTheirs), data: lines.length === 0 ? {} : { blocks: lines } };
}

function renderBlock(names: readonly string[], answers: readonly Group[], { port, lines }: BlockFrame): string[] {
  const directives = ['errors', `cache ${timeToLive} .`, ...templatesOf(answers, '.'), ...lines];
  const keys = names.map((name, index) => `${name}${port}${index === names.length - 1 ? ' {' : ','}`);
  return [...keys, ...directives.map((line) => `    ${line}`), '}'];
}

/** Who answers in the block of a name: its own rule, then wildcards of the name and of the domains that it is in. */
function answersOf(name: string, rules: ReadonlyMap<string, readonly Rule[]>): readonly Group[] {
  const labels = name.split('.').length;
  return [name, ...ancestors(name)].flatMap((domain, above) => {
    const own = rules.get(domain) ?? [];
    return (['exact', 'label', 'suffix'] as const)
      .filter((match) => reaches(match, above))
      .flatMap((match) => own.filter((rule) => rule.match === match))
      .map(({ match, target }) => ({ target, pattern: depthPattern(match, labels - above) }));
  });
}

/** Can a rule of a domain so many labels above a block answer a question that comes to the block? */
function reaches(match: Match, above: number): boolean {
  return match === 'suffix' || above === 0 || (match === 'label' && above === 1);
}

function depthPattern(match: Match, labels: number): string {
  return `^${prefixes[match]}(?:${anyLabel}){${labels}}$`;
}
