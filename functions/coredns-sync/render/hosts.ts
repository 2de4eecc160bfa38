import { apartFromWildcards } from './cover.ts';
import { renderTemplates, timeToLive } from './template.ts';
import type { HostsRendering, Rendered } from './render.ts';
import { inOrder, type Rule } from '../rule.ts';

/**
 * Addresses in a file of their own, which CoreDNS keeps in a map and reads again by itself. Wildcards stay templates: those
 * of the plugin would cover labels that begin with an underscore. They come before it, and so do the names that they cover.
 */
export function renderHosts(
  rules: readonly Rule[],
  { addresses, passesOtherTypes }: HostsRendering,
  path: string,
): Rendered {
  const { plain, others } = apartFromWildcards(rules, ({ target }) => (addresses[target] ?? []).length > 0);
  const templates = renderTemplates(others);
  if (plain.length === 0) {
    return { lines: templates, data: {} };
  }
  const directive = [
    `hosts ${path} . {`,
    `    ttl ${timeToLive}`,
    '    no_reverse', // else an address would be said to have the names of all hosts
    '    fallthrough',
    ...(passesOtherTypes ? ['    fallthrough_unsupported'] : []),
    '}',
  ];
  const entries = plain
    .toSorted(inOrder)
    .flatMap(({ host, target }) => (addresses[target] ?? []).map((address) => `${address} ${host}`));
  return { lines: [...templates, ...directive], data: { hosts: entries } };
}
