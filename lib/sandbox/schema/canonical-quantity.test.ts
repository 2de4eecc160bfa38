import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { canonicalQuantity } from './canonical-quantity.ts';

describe('canonicalQuantity', () => {
  it.each([
    ['1000m', '1'],
    [0.5, '500m'],
    [2, '2'],
    ['1024Mi', '1Gi'],
    ['1.5Gi', '1536Mi'],
    ['0.1Ki', '102400m'],
    ['0', '0'],
    ['0Mi', '0'],
    ['1000000', '1M'],
    ['1234567', '1234567'],
    ['1023Ki', '1023Ki'],
    ['1048576Ki', '1Gi'],
    ['512', '512'],
    ['1000k', '1M'],
    ['5E', '5E'],
    ['1024', '1024'],
    ['0.5Mi', '512Ki'],
    ['.5', '500m'],
    ['-1500m', '-1500m'],
    ['1e3', '1e3'],
    ['nonsense', 'nonsense'],
  ])('writes %s as %s', (value, expected) => {
    expect(canonicalQuantity(value)).toBe(expected);
  });

  it('leaves what it wrote', () => {
    const suffix = fc.constantFrom('', 'm', 'k', 'M', 'G', 'Ki', 'Mi', 'Gi');
    fc.assert(
      fc.property(fc.nat(), suffix, (number, unit) => {
        const once = canonicalQuantity(`${number}${unit}`);
        expect(canonicalQuantity(once)).toBe(once);
      }),
    );
  });
});
