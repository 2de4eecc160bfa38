import { apartFromWildcards } from './cover.ts';
import { stableHash } from '../hash.ts';
import { renderTemplates, timeToLive } from './template.ts';
import type { Rendered } from './render.ts';
import { inOrder, type Rule } from '../rule.ts';

/**
 * One zone for all names, which passes on whatever it does not have: a name above a host is not its business. It is that of
 * the root, since the zone's own name is all that it can't pass on. Wildcards are templates, as those of a zone would cover
 * any number of labels and those that begin with an underscore.
 */
export function renderZone(rules: readonly Rule[], path: string): Rendered {
  const { plain, others } = apartFromWildcards(rules);
  const templates = renderTemplates(others);
  if (plain.length === 0) {
    return { lines: templates, data: {} };
  }
  const directive = [`file ${path} . {`, '    reload 5s', '    fallthrough', '}'];
  const names = plain.toSorted(inOrder).map(({ host, target }) => `${host}. ${timeToLive} IN CNAME ${target}`);
  return { lines: [...templates, ...directive], data: { zone: [startOfAuthority(names), ...names] } };
}

/** CoreDNS reads the zone again when its serial number is another, and refuses one of 0. */
function startOfAuthority(names: readonly string[]): string {
  const serial = Math.max(1, stableHash(names.join('\n')));
  return `. ${timeToLive} IN SOA . . ${serial} 7200 1800 86400 ${timeToLive}`;
}
