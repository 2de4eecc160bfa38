import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  formatSelector,
  matches,
  matchesLabelSelector,
  parseSelector,
  requirements,
  soundRequirements,
} from './selector.ts';

describe('label selectors', () => {
  it.each([
    ['', {}, true],
    ['a=b', { a: 'b' }, true],
    ['a==b', { a: 'c' }, false],
    ['a!=b', {}, true],
    ['a!=b', { a: 'b' }, false],
    ['a in (b, c),d', { a: 'c', d: '' }, true],
    ['a in (b,c)', {}, false],
    ['a notin (b,c)', {}, true],
    ['a notin (b,c)', { a: 'b' }, false],
    ['!a', {}, true],
    ['!a', { a: '' }, false],
    ['example.com/a', { 'example.com/a': 'x' }, true],
    ['n>3', { n: '4' }, true],
    ['n<3', { n: 'many' }, false],
    ['a=', { a: '' }, true],
    ['constructor', {}, false],
    ['!constructor', {}, true],
    ['constructor=x', { constructor: 'x' }, true],
  ])('%s on %j is %s', (text, labels: Record<string, string>, expected) => {
    expect(matches(parseSelector(text), labels)).toBe(expected);
  });

  it.each(['a=b=c', ',', 'a in b', 'a=ä', '-a', 'a/b/c', 'a in (b', 'n>x', '!', `${'a'.repeat(254)}/b`])(
    'refuses %s',
    (text) => {
      expect(() => parseSelector(text)).toThrow('unable to parse requirement');
    },
  );

  it('selects nothing when absent and everything when empty', () => {
    expect(matchesLabelSelector(undefined, { a: 'b' })).toBe(false);
    expect(matchesLabelSelector({}, undefined)).toBe(true);
  });

  it.each(['n>3', 'n<3', 'a!=b', 'a in (b,c)'])('reads back %s', (text) => {
    const read = parseSelector(text);

    expect(parseSelector(formatSelector(read))).toEqual(read);
  });

  it('takes conditions that the API server takes', () => {
    const selector = { matchLabels: { a: 'b' }, matchExpressions: [{ key: 'c', operator: 'In', values: ['d'] }] };

    expect(soundRequirements(selector)).toEqual(requirements(selector));
  });

  it.each([
    [{ key: 'a', operator: 'In', values: [] }, '"a" with values [] is not a valid label condition'],
    [{ key: 'a', operator: 'Exists', values: ['b'] }, '"a" with 1 values is not a valid label condition'],
    [{ key: 'a b', operator: 'In', values: ['c'] }, '"a b" with values [c] is not a valid label condition'],
    [{ key: 'a', operator: 'Equals', values: ['c'] }, '"Equals" is not a valid label selector operator'],
  ])('refuses the condition %j', (expression, message) => {
    expect(() => soundRequirements({ matchExpressions: [expression] })).toThrow(message);
  });

  it('reads back what it prints', () => {
    const key = fc.constantFrom('a', 'b', 'example.com/c');
    const values = fc.array(fc.constantFrom('x', 'y', 'z'), { minLength: 1, maxLength: 3 });
    const expression = fc.oneof(
      fc.record({ key, operator: fc.constantFrom('In', 'NotIn'), values }),
      fc.record({ key, operator: fc.constantFrom('Exists', 'DoesNotExist') }),
    );
    const labels = fc.dictionary(key, fc.constantFrom('x', 'y', 'z', ''));

    fc.assert(
      fc.property(fc.array(expression), labels, (matchExpressions, given) => {
        const selector = { matchLabels: { a: 'x' }, matchExpressions };
        const printed = formatSelector(requirements(selector));
        expect(matches(parseSelector(printed), given)).toBe(matchesLabelSelector(selector, given));
      }),
    );
  });
});
