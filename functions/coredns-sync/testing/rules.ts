import fc from 'fast-check';
import type { Match, Rule } from '../rule.ts';

const label = fc.oneof(
  fc.constantFrom('a', 'b', 'api', 'www', 'x-1', '0', 'xn--bcher-kva'),
  fc.stringMatching(/^[a-z0-9]([a-z0-9-]{0,8}[a-z0-9])?$/),
);
const domain = fc.constantFrom('example.com', 'apps.example.com', 'deep.apps.example.com', 'example.org', 'corp.test');

/** Sets of rules that nest and overlap as much as they may: no host twice. */
export function arbitraryRules(
  targets: readonly string[],
  { minLength = 0, maxLength = 400 } = {},
): fc.Arbitrary<Rule[]> {
  const host = fc
    .tuple(fc.array(label, { maxLength: 3 }), domain)
    .map(([labels, parent]) => [...labels, parent].join('.'));
  return fc.uniqueArray(
    fc.record({
      host,
      match: fc.constantFrom<Match>('exact', 'exact', 'label', 'suffix'),
      target: fc.constantFrom(...targets),
    }),
    { selector: ({ host: name, match }) => `${match} ${name}`, minLength, maxLength },
  );
}
