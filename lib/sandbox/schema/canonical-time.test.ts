import { describe, expect, it } from '@jest/globals';
import { canonicalTime } from './canonical-time.ts';

describe('canonicalTime', () => {
  const micro = 'io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime';

  it.each([
    ['2026-01-02T03:04:05Z', undefined, '2026-01-02T03:04:05Z'],
    ['2026-01-02T03:04:05.678Z', undefined, '2026-01-02T03:04:05Z'],
    ['2026-01-02T03:04:05+02:00', undefined, '2026-01-02T01:04:05Z'],
    ['2026-01-02T03:04:05.678Z', micro, '2026-01-02T03:04:05.678000Z'],
    ['2026-01-02T03:04:05Z', micro, '2026-01-02T03:04:05.000000Z'],
    ['soon', undefined, 'soon'],
    ['2026-99-02T03:04:05Z', undefined, '2026-99-02T03:04:05Z'],
  ])('writes %s (%s) as %s', (text, definition, expected) => {
    expect(canonicalTime(text, definition)).toBe(expected);
  });
});
