import { describe, expect, it } from '@jest/globals';
import type { Target } from './client.ts';
import { configMap } from './samples.ts';
import { useScratch } from './scratch.ts';
import { openWatch } from './watching.ts';

/** What a client sees that comes back after the server has forgotten where it was. */
export function historyCases(target: () => Target): void {
  describe('history', () => {
    const scratch = useScratch(target, { settled: true });

    it('answers watches and pages of a forgotten resourceVersion with 410', async () => {
      const { call, client, create, path } = scratch();
      const made = await create('configmaps', configMap('old-1'));
      await create('configmaps', configMap('old-2'));
      const first = await call('GET', path('configmaps'), { query: { limit: 1 } });
      const token = (first.body.metadata as { continue?: string }).continue ?? '';
      await create('configmaps', configMap('old-3'));
      await target().forget();

      const watch = await openWatch(client, path('configmaps'), {
        resourceVersion: made.metadata?.resourceVersion ?? '',
      });
      const event = await watch.next();
      watch.close();
      const rest = await call('GET', path('configmaps'), { query: { limit: 1, continue: token } });
      const exact = await call('GET', path('configmaps'), {
        query: { resourceVersion: made.metadata?.resourceVersion ?? '', resourceVersionMatch: 'Exact' },
      });

      expect(event?.type).toBe('ERROR');
      expect(event?.object).toMatchObject({ kind: 'Status', status: 'Failure', reason: 'Expired', code: 410 });
      expect(event?.object.message).toMatch(/^too old resource version: \d+ \(\d+\)$/);
      expect(rest.code).toBe(410);
      expect(rest.body.reason).toBe('Expired');
      // The answer carries a token with which the list goes on from the present state.
      expect((rest.body.metadata as { continue?: string }).continue).toEqual(expect.any(String));
      expect(exact.code).toBe(410);
    });

    it('still lists and watches the present', async () => {
      const { call, client, path } = scratch();

      const list = await call('GET', path('configmaps'));
      const watch = await openWatch(client, path('configmaps'), { fieldSelector: 'metadata.name=old-1' });
      const event = await watch.change();
      watch.close();

      expect(list.body.items?.map(({ metadata }) => metadata?.name)).toEqual([
        'kube-root-ca.crt',
        'old-1',
        'old-2',
        'old-3',
      ]);
      expect(event?.type).toBe('ADDED');
    });
  });
}
