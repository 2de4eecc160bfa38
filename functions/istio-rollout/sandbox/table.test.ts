import { describe, expect, it } from '@jest/globals';
import { tableOf } from './table.ts';

const counts = { outdated: 2, queued: 1, inflight: 1, failed: 0, blocked: 0 };
const place = { kind: 'Deployment', namespace: 'shop', uid: '1' };

describe('the table of a status', () => {
  it('has a line for each workload, with short images, below the counts', () => {
    const table = tableOf({
      counts,
      paused: 'shop/web failed',
      workloads: [
        { ...place, name: 'web', code: 'InFlight', current: 'docker.io/istio/proxyv2:1.28.4', expected: 'a/b:1.29.0' },
        { ...place, name: 'cart', code: 'Queued' },
        { ...place, name: 'api', code: 'Restarted', current: 'a/b:1.28.4', expected: 'a/b:1.29.0' },
      ],
    });

    expect(table?.split('\n')).toEqual([
      '1 queued, 1 in flight, paused: shop/web failed',
      'WORKLOAD              STATE      PROXY           EXPECTED',
      'Deployment shop/web   InFlight   proxyv2:1.28.4  b:1.29.0',
      'Deployment shop/cart  Queued     -               -',
      'Deployment shop/api   Restarted  b:1.29.0        b:1.29.0',
    ]);
  });

  it('is none where nothing is to be told', () => {
    expect(tableOf({ counts, workloads: [] })).toBeUndefined();
  });
});
