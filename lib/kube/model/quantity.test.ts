import { describe, expect, it } from '@jest/globals';
import { canonicalQuantity, sameQuantity } from './quantity.ts';

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
