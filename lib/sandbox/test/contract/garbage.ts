import { describe, expect, it } from '@jest/globals';
import type { Body, Target } from './client.ts';
import { configMap } from './samples.ts';
import { useScratch } from './scratch.ts';
import { untilGone } from './watching.ts';

/** Garbage collection by owner references. */
export function garbageCases(target: () => Target): void {
  describe('garbage collection', () => {
    const scratch = useScratch(target);

    function ownedBy(owner: Body, more: object = {}): object {
      const { name, uid } = owner.metadata ?? {};
      return { ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name, uid, ...more }] };
    }

    it('removes dependents after their owner, by default in the background', async () => {
      const { call, client, create, path } = scratch();
      const owner = await create('configmaps', configMap('background-owner'));
      await create('secrets', { metadata: { name: 'background-child', ...ownedBy(owner) } });

      const reply = await call('DELETE', path('configmaps', 'background-owner'));
      const gone = await call('GET', path('configmaps', 'background-owner'));
      await untilGone(client, path('secrets'), 'background-child');

      expect(reply.code).toBe(200);
      expect(gone.code).toBe(404);
    });

    it('removes dependents of dependents', async () => {
      const { call, client, create, path } = scratch();
      const owner = await create('configmaps', configMap('chain-1'));
      const middle = await create('configmaps', configMap('chain-2', {}, ownedBy(owner)));
      await create('configmaps', configMap('chain-3', {}, ownedBy(middle)));

      await call('DELETE', path('configmaps', 'chain-1'));

      await untilGone(client, path('configmaps'), 'chain-3');
    });

    it('keeps the owner until blocking dependents are gone, in the foreground', async () => {
      const { call, client, create, get, patch, path } = scratch();
      const owner = await create('configmaps', configMap('front-owner'));
      const held = { finalizers: ['example.com/hold'], ...ownedBy(owner, { blockOwnerDeletion: true }) };
      await create('configmaps', configMap('front-child', {}, held));

      const reply = await call('DELETE', path('configmaps', 'front-owner'), {
        body: { propagationPolicy: 'Foreground' },
      });
      const marked = await get('configmaps', 'front-owner');
      await scratch().until('configmaps', 'front-child', ({ metadata }) => metadata?.deletionTimestamp !== undefined);
      await patch('merge', path('configmaps', 'front-child'), { metadata: { finalizers: null } });
      await untilGone(client, path('configmaps'), 'front-owner');

      expect(reply.body).toMatchObject({ kind: 'ConfigMap', metadata: { name: 'front-owner' } });
      expect(marked.metadata?.finalizers).toEqual(['foregroundDeletion']);
      expect((await call('GET', path('configmaps', 'front-child'))).code).toBe(404);
    });

    it('leaves dependents behind without the reference, when they are orphaned', async () => {
      const { call, client, create, get, path } = scratch();
      const owner = await create('configmaps', configMap('orphan-owner'));
      await create('configmaps', configMap('orphan', {}, ownedBy(owner)));

      await call('DELETE', path('configmaps', 'orphan-owner'), { body: { propagationPolicy: 'Orphan' } });
      await untilGone(client, path('configmaps'), 'orphan-owner');

      expect((await get('configmaps', 'orphan')).metadata).not.toHaveProperty('ownerReferences');
    });

    it('keeps a dependent that still has another owner, and drops the dead reference', async () => {
      const { call, create, path, until } = scratch();
      const [first, second] = await Promise.all([
        create('configmaps', configMap('owner-1')),
        create('configmaps', configMap('owner-2')),
      ]);
      const references = [first, second].flatMap((owner) => {
        return (ownedBy(owner) as { ownerReferences: object[] }).ownerReferences;
      });
      await create('configmaps', configMap('two-owners', {}, { ownerReferences: references }));

      await call('DELETE', path('configmaps', 'owner-1'));
      const left = await until('configmaps', 'two-owners', ({ metadata }) => metadata?.ownerReferences?.length === 1);

      expect(left.metadata?.ownerReferences).toMatchObject([{ name: 'owner-2' }]);
    });

    it('removes an object whose owner never was', async () => {
      const { client, create, path } = scratch();
      const owner = { metadata: { name: 'never', uid: '00000000-0000-4000-8000-00000000beef' } };

      await create('configmaps', configMap('ownerless', {}, ownedBy(owner)));

      await untilGone(client, path('configmaps'), 'ownerless');
    });

    it('removes an object whose owner was replaced by another of the same name', async () => {
      const { client, create, path } = scratch();
      await create('configmaps', configMap('reborn'));
      const before = { metadata: { name: 'reborn', uid: '00000000-0000-4000-8000-00000000dead' } };

      await create('configmaps', configMap('of-the-old', {}, ownedBy(before)));

      await untilGone(client, path('configmaps'), 'of-the-old');
    });

    it('refuses a reference without a uid, and two controllers', async () => {
      const { call, path } = scratch();
      const reference = { apiVersion: 'v1', kind: 'ConfigMap', name: 'x', uid: 'u1', controller: true };

      const without = await call('POST', path('configmaps'), {
        body: configMap('no-uid', {}, { ownerReferences: [{ ...reference, uid: '' }] }),
      });
      const two = await call('POST', path('configmaps'), {
        body: configMap('two', {}, { ownerReferences: [reference, { ...reference, name: 'y', uid: 'u2' }] }),
      });

      expect(without.code).toBe(422);
      expect(without.body.details?.causes?.[0]).toMatchObject({ field: 'metadata.ownerReferences.uid' });
      expect(two.code).toBe(422);
      expect(two.body.details?.causes?.[0]?.message).toContain('Only one reference can have Controller set to true.');
    });
  });
}
