import { describe, expect, it } from '@jest/globals';
import { parseRows, renderRows, rowsOf } from './rows.ts';
import { scanOf } from './testing/scan.ts';

describe('rows with long images', () => {
  it('are cut where a ConfigMap is full, and the rest is counted', () => {
    const image = `registry.example/${'x'.repeat(400)}:1`;
    const pods = Array.from({ length: 3_000 }, (_, index) => ({
      namespace: 'shop',
      name: `pod-${index}`,
      uid: `u-${index}`,
      createdAt: 0,
      proxy: { image },
    }));
    const strays = pods.map((pod) => ({ pod, code: 'Unmanaged' as const }));

    const found = rowsOf({ rows: [], omitted: 0 }, { ...scanOf([]), strays });
    const data = renderRows(found);

    expect(Buffer.byteLength(data.workloads)).toBeLessThanOrEqual(900 * 1024);
    expect(found.omitted).toBeGreaterThan(500);
    expect(found.rows.length + found.omitted).toBe(3_000);
    expect(parseRows(data)).toEqual(found);
  });
});
