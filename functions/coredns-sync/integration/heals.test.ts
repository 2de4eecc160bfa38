import { describe, expect, it } from '@jest/globals';
import { configMaps } from '../../../lib/kube/model/resource.ts';
import { healsAfter, withoutFailed } from './heals.ts';
import type { IntegrationStep } from './types.ts';

const now = new Date('2026-01-01T12:00:00Z');
const nothing = { heals: {}, placed: {} };

function stepOf(text: string, version = '1'): IntegrationStep {
  const operations = [
    { op: 'test' as const, path: '/metadata/resourceVersion', value: version },
    { op: 'add' as const, path: '/data/stubDomains', value: text },
  ];
  const place = { namespace: 'kube-system', name: 'kube-dns' };
  return { component: 'stub_domains', step: { do: 'patch', resource: configMaps, ...place, operations, why: 'test' } };
}

describe('the budget of repairs', () => {
  it('counts what must be done again in the same way, and no first time', () => {
    const first = healsAfter(nothing, [stepOf('a')], { now, most: 6 });
    const again = healsAfter(first.state, [stepOf('a', '2')], { now, most: 6 });

    expect([first.counted, again.counted]).toEqual([[], ['stub_domains']]);
    expect(again.state.heals).toEqual({ stub_domains: [now.toISOString()] });
  });

  it('counts no step that follows other hosts, however many there are', () => {
    let { state } = healsAfter(nothing, [stepOf('0')], { now, most: 6 });
    for (let time = 1; time < 20; time += 1) {
      const next = healsAfter(state, [stepOf(String(time))], { now, most: 6 });
      expect([next.counted, next.contended]).toEqual([[], []]);
      ({ state } = next);
    }
  });

  it('forgets what came to nothing', () => {
    const first = healsAfter(nothing, [stepOf('a')], { now, most: 6 });
    const again = healsAfter(first.state, [stepOf('a')], { now, most: 6 });

    expect(withoutFailed(again.state, first.state, ['stub_domains'])).toEqual({ ...first.state, heals: {} });
    expect(withoutFailed(first.state, nothing, ['stub_domains'])).toEqual(nothing);
  });
});
