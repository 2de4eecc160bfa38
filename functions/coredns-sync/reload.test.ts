import { describe, expect, it } from '@jest/globals';
import { judgeReload, parseReload } from './reload.ts';

describe('reloads of CoreDNS', () => {
  it('are read from its metrics', () => {
    const metrics = [
      '# TYPE coredns_reload_failed_total counter',
      'coredns_reload_failed_total 3',
      'coredns_reload_version_info{hash="sha512",value="ab12"} 1',
    ].join('\n');

    expect(parseReload(metrics)).toEqual({ failed: 3, version: 'ab12' });
    expect(parseReload('coredns_build_info 1')).toEqual({ failed: 0 });
  });

  it.each([
    ['refused when a pod failed since', { a: { failed: 1, version: 'x' } }, 'refused'],
    ['taken when every pod runs another text', { a: { failed: 0, version: 'y' } }, 'taken'],
    [
      'waiting while a pod runs the old text',
      { a: { failed: 0, version: 'x' }, b: { failed: 0, version: 'y' } },
      'waiting',
    ],
    ['taken by a pod that started since', { c: { failed: 0 } }, 'taken'],
    ['waiting while no pod answers', {}, 'waiting'],
  ])('are %s', (_, after, verdict) => {
    const before = { a: { failed: 0, version: 'x' }, b: { failed: 0, version: 'x' } };

    expect(judgeReload(before, after)).toBe(verdict);
  });
});
