import { describe, expect, it } from '@jest/globals';
import { followReload, judgeReload, parseReload, type Look, type ReloadWatch } from './reload.ts';

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

describe('a look at reloads', () => {
  const watch: ReloadWatch = {
    good: 'old',
    pods: { a: { failed: 0, version: 'x' } },
  };

  function look(changes: Partial<Look> & { readonly minute?: number }): Look {
    const { minute = 1, ...given } = changes;
    const changedAt = new Date('2026-01-01T00:00:00Z');
    const at = new Date(changedAt.getTime() + minute * 60_000);
    return { rules: 'new', pods: watch.pods, changedAt, at, ...given };
  }

  it.each([
    ['waiting for rules of an unknown age', { changedAt: undefined, minute: 9 }, 'waiting'],
    ['waiting while CoreDNS may not have read them', {}, 'waiting'],
    ['good once it must have, without a failure', { minute: 3 }, 'good'],
    ['waiting though it runs something else', { pods: { a: { failed: 0, version: 'y' } } }, 'waiting'],
    ['good at the first look at rules that are old enough', { rules: 'newer', minute: 3 }, 'good'],
    ['refused when a pod failed', { pods: { a: { failed: 1, version: 'x' } } }, 'refused'],
    ['waiting when those failed that it took before', { rules: 'old', pods: { a: { failed: 1 } } }, 'waiting'],
    ['waiting while nobody says anything', { pods: {}, minute: 9 }, 'waiting'],
  ])('is %s', (_, changes, verdict) => {
    expect(followReload(watch, look(changes)).verdict).toBe(verdict);
  });

  it('blames no rules while CoreDNS refuses what it took before, and takes none for good until it has reloaded', () => {
    const failing: ReloadWatch = { ...watch, failing: true };
    const pods = { a: { failed: 1, version: 'y' } };

    expect(followReload(failing, look({ pods }))).toMatchObject({ verdict: 'waiting', watch: { failing: true } });
    expect(followReload(failing, look({ minute: 9 }))).toMatchObject({ verdict: 'waiting', watch: { failing: true } });
    const mended = followReload(failing, look({ minute: 9, pods: { a: { failed: 0, version: 'y' } } }));
    expect(mended.verdict).toBe('good');
    expect(mended.watch.failing).toBeUndefined();
  });

  it('remembers what was refused until CoreDNS takes other rules than those that came back', () => {
    const refused = { ...watch, refused: 'bad' };

    expect(followReload(refused, look({ rules: 'old', minute: 9 })).watch.refused).toBe('bad');
    expect(followReload(refused, look({ minute: 9 })).watch.refused).toBeUndefined();
  });

  it('counts failures of a pod that started since from the first look at it', () => {
    const first = followReload(watch, look({ pods: { b: { failed: 2 } } }));
    const second = followReload(first.watch, look({ pods: { b: { failed: 3 } } }));

    expect([first.verdict, second.verdict]).toEqual(['waiting', 'refused']);
  });

  it('counts failures of a container that restarted from zero', () => {
    const before: ReloadWatch = { ...watch, pods: { a: { failed: 3, version: 'x' } } };
    const quiet = followReload(before, look({ pods: { a: { failed: 0 } } }));
    const failed = followReload(quiet.watch, look({ pods: { a: { failed: 1 } } }));

    expect([quiet.verdict, failed.verdict]).toEqual(['waiting', 'refused']);
    expect(followReload(before, look({ pods: { a: { failed: 1 } } })).verdict).toBe('refused');
  });
});
