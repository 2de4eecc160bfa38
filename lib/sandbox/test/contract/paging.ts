import { beforeAll, describe, expect, it } from '@jest/globals';
import type { Body, Target } from './client.ts';
import { expectCode, useScratch } from './scratch.ts';

interface ListMeta {
  readonly continue?: string;
  readonly remainingItemCount?: number;
  readonly resourceVersion?: string;
}

/** Lists in pages: one state of the world, whatever happens between the pages. */
export function pagingCases(target: () => Target): void {
  describe('paging', () => {
    const scratch = useScratch(target);

    beforeAll(async () => {
      for (const index of [1, 2, 3, 4, 5]) {
        await scratch().create('secrets', { metadata: { name: `page-${String(index)}`, labels: { page: 'yes' } } });
      }
    });

    async function page(query: Readonly<Record<string, string | number>>): Promise<Body> {
      const { call, path } = scratch();
      return expectCode(200, await call('GET', path('secrets'), { query }));
    }

    it('gives at most limit items and a token for the rest', async () => {
      const first = await page({ limit: 2 });

      expect(namesOf(first)).toEqual(['page-1', 'page-2']);
      expect(metaOf(first)).toMatchObject({ continue: expect.any(String), remainingItemCount: 3 });
    });

    it('ends without a token', async () => {
      const first = await page({ limit: 3 });
      const second = await page({ limit: 3, continue: metaOf(first).continue ?? '' });

      expect(namesOf(second)).toEqual(['page-4', 'page-5']);
      expect(metaOf(second)).not.toHaveProperty('continue');
      expect(metaOf(second)).not.toHaveProperty('remainingItemCount');
    });

    it('leaves out the remaining count when a selector is at work', async () => {
      const first = await page({ limit: 2, labelSelector: 'page=yes' });

      expect(namesOf(first)).toEqual(['page-1', 'page-2']);
      expect(metaOf(first).continue).toEqual(expect.any(String));
      expect(metaOf(first)).not.toHaveProperty('remainingItemCount');
    });

    it('shows later pages as the first one saw them', async () => {
      const { call, create, path } = scratch();
      await create('secrets', { metadata: { name: 'page-9' } });
      const first = await page({ limit: 4 });

      await call('DELETE', path('secrets', 'page-9'));
      await create('secrets', { metadata: { name: 'page-6' } });
      const rest = await page({ limit: 100, continue: metaOf(first).continue ?? '' });
      await call('DELETE', path('secrets', 'page-6'));

      expect(namesOf(rest)).toEqual(['page-5', 'page-9']);
      expect(metaOf(rest).resourceVersion).toBe(metaOf(first).resourceVersion);
    });

    it('refuses a token together with a resourceVersion', async () => {
      const { call, path } = scratch();
      const first = await page({ limit: 1 });

      const reply = await call('GET', path('secrets'), {
        query: { limit: 1, continue: metaOf(first).continue ?? '', resourceVersion: '1' },
      });

      expect(reply.code).toBe(400);
      expect(reply.body.message).toContain('specifying resource version is not allowed when using continue');
    });

    it('refuses a token that it never gave', async () => {
      const { call, path } = scratch();

      const reply = await call('GET', path('secrets'), { query: { limit: 1, continue: 'bogus' } });

      expect(reply.code).toBe(400);
      expect(reply.body.message).toContain('continue key is not valid');
    });

    it('ignores a limit for a list at resourceVersion 0 or honours it, but loses nothing', async () => {
      const list = await page({ limit: 2, resourceVersion: '0', resourceVersionMatch: 'NotOlderThan' });
      const token = metaOf(list).continue;
      const rest = token === undefined ? [] : namesOf(await page({ limit: 100, continue: token }));

      expect([...namesOf(list), ...rest]).toEqual(['page-1', 'page-2', 'page-3', 'page-4', 'page-5']);
    });

    it('lists the state at an exact resourceVersion', async () => {
      const { call, create, path } = scratch();
      const before = metaOf(await page({ limit: 1 })).resourceVersion ?? '';
      await create('secrets', { metadata: { name: 'page-later' } });

      const then = await page({ resourceVersion: before, resourceVersionMatch: 'Exact', limit: 100 });
      await call('DELETE', path('secrets', 'page-later'));

      expect(namesOf(then)).toEqual(['page-1', 'page-2', 'page-3', 'page-4', 'page-5']);
    });

    it('refuses resourceVersionMatch without a resourceVersion', async () => {
      const { call, path } = scratch();

      const reply = await call('GET', path('secrets'), { query: { resourceVersionMatch: 'Exact' } });

      expect(reply.code).toBe(422);
      expect(reply.body.details?.causes?.[0]?.message).toBe(
        'Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided',
      );
    });
  });
}

function namesOf(list: Body): (string | undefined)[] {
  return (list.items ?? []).map(({ metadata }) => metadata?.name);
}

function metaOf(list: Body): ListMeta {
  return list.metadata ?? {};
}
