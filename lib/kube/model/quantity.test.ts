import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { canonicalQuantity, compareQuantities, sameQuantity, storedQuantity } from './quantity.ts';

describe('quantities', () => {
  it.each([
    ['1', '1000m'],
    ['0.5', '500m'],
    ['.5', '5e-1'],
    ['1Gi', '1024Mi'],
    ['1.5Ki', '1536'],
    ['1k', '1e3'],
    ['1E', '1000P'],
    ['-1', '-1000m'],
    ['100n', '0.1u'],
  ])('%s is %s', (a, b) => {
    expect(sameQuantity(a, b)).toBe(true);
  });

  it('handles very long numbers in little time, since any client can send them in a review', () => {
    const digits = '1'.repeat(1_000_000);

    expect(sameQuantity(`${digits}x`, '2')).toBe(false);
    expect(sameQuantity(digits, `${digits}.0`)).toBe(false);
  }, 5000);

  it('accepts numbers, as YAML yields them', () => {
    expect(sameQuantity(2, '2000m')).toBe(true);
  });

  it.each([
    ['1', '1001m'],
    ['1G', '1Gi'],
    ['1', '-1'],
    ['1M', '1m'],
    ['one', 'one'],
    ['', ''],
  ])('%s is not %s', (a, b) => {
    expect(sameQuantity(a, b)).toBe(false);
  });
});

it.each([
  ['1', '1000m'],
  ['1Gi', '1024Mi'],
  ['0', '0m'],
  ['1.5', '1500m'],
  ['100', '1e2'],
])('%s and %s have one canonical text', (left, right) => {
  expect(canonicalQuantity(left)).toBe(canonicalQuantity(right));
});

it('returns other texts unchanged', () => {
  expect(canonicalQuantity('much')).toBe('much');
  expect(canonicalQuantity('1')).not.toBe(canonicalQuantity('10'));
});

it('orders amounts, whatever their suffixes', () => {
  const amounts = ['1Gi', '-1', '1G', '999m', '1', '1e3', '0'];

  expect(amounts.sort((a, b) => compareQuantities(a, b) ?? 0)).toEqual(['-1', '0', '999m', '1', '1e3', '1G', '1Gi']);
  expect(compareQuantities('1', 'much')).toBeUndefined();
});

describe('a quantity as the API server stores it', () => {
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
    ['100E1', '1e3'],
    ['1200e0', '1200e0'],
    ['5e-1', '500e-3'],
    ['0.1n', '1n'],
    ['1.0000000001', '1000000001n'],
    ['100E', '100E'],
    ['nonsense', 'nonsense'],
  ])('%s is %s', (value, expected) => {
    expect(storedQuantity(value)).toBe(expected);
  });

  it('stays what it is, and the same amount', () => {
    const suffix = fc.constantFrom('', 'm', 'k', 'M', 'G', 'Ki', 'Mi', 'Gi', 'e3');
    fc.assert(
      fc.property(fc.nat(), suffix, (number, unit) => {
        const once = storedQuantity(`${number}${unit}`);
        expect(storedQuantity(once)).toBe(once);
        expect(sameQuantity(once, `${number}${unit}`)).toBe(true);
      }),
    );
  });
});
