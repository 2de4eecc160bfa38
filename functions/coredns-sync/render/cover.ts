import { ancestors, type Rule } from '../rule.ts';

/**
 * Parts the names that a lookup can serve from those that need templates: wildcards, names that a wildcard covers (templates
 * are asked first, and the wildcard's must not win) and names that are not `served`.
 */
export function apartFromWildcards(
  rules: readonly Rule[],
  served: (rule: Rule) => boolean = () => true,
): { readonly plain: readonly Rule[]; readonly others: readonly Rule[] } {
  const labels = new Set(rules.filter(({ match }) => match === 'label').map(({ host }) => host));
  const suffixes = new Set(rules.filter(({ match }) => match === 'suffix').map(({ host }) => host));
  function isPlain(rule: Rule): boolean {
    const [parent = '', ...further] = ancestors(rule.host);
    const covered = labels.has(parent) || [parent, ...further].some((domain) => suffixes.has(domain));
    return rule.match === 'exact' && !covered && served(rule);
  }
  const { plain = [], others = [] } = Object.groupBy(rules, (rule) => (isPlain(rule) ? 'plain' : 'others'));
  return { plain, others };
}
