import { describe, expect, it } from '@jest/globals';
import type { Target } from './client.ts';
import { configMap, deployment, pod } from './samples.ts';
import { expectCode, useScratch } from './scratch.ts';

/** Deleting: answers, preconditions, finalizers, collections. */
export function deletionCases(target: () => Target): void {
  describe('deletion', () => {
    const scratch = useScratch(target, { settled: true });

    it('answers with a Status that names what went', async () => {
      const { call, create, path } = scratch();
      const made = await create('configmaps', configMap('gone'));

      const reply = await call('DELETE', path('configmaps', 'gone'));

      expect(expectCode(200, reply)).toMatchObject({
        kind: 'Status',
        status: 'Success',
        details: { name: 'gone', kind: 'configmaps', uid: made.metadata?.uid },
      });
      expect((await call('GET', path('configmaps', 'gone'))).code).toBe(404);
    });

    it('answers with the object itself for kinds such as pods', async () => {
      const { call, create, path } = scratch();
      await create('pods', pod('gone-pod'));

      const reply = await call('DELETE', path('pods', 'gone-pod'), { body: { gracePeriodSeconds: 0 } });

      expect(expectCode(200, reply)).toMatchObject({ kind: 'Pod', metadata: { name: 'gone-pod' } });
    });

    it('answers for something absent with NotFound', async () => {
      const { call, path } = scratch();

      const reply = await call('DELETE', path('configmaps', 'absent'));

      expect(reply.code).toBe(404);
    });

    it('refuses when a precondition does not hold', async () => {
      const { call, create, path } = scratch();
      const made = await create('configmaps', configMap('guarded'));
      const uid = '00000000-0000-4000-8000-000000000000';

      const wrongUid = await call('DELETE', path('configmaps', 'guarded'), { body: { preconditions: { uid } } });
      const wrongVersion = await call('DELETE', path('configmaps', 'guarded'), {
        body: { preconditions: { resourceVersion: '1' } },
      });
      const right = await call('DELETE', path('configmaps', 'guarded'), {
        body: { preconditions: { uid: made.metadata?.uid, resourceVersion: made.metadata?.resourceVersion } },
      });

      expect(wrongUid.code).toBe(409);
      expect(wrongUid.body.message).toContain(
        `the UID in the precondition (${uid}) does not match the UID in record (${made.metadata?.uid ?? ''}). The object might have been deleted and then recreated`,
      );
      expect(wrongVersion.code).toBe(409);
      expect(wrongVersion.body.message).toContain(
        'the ResourceVersion in the precondition (1) does not match the ResourceVersion in record',
      );
      expect(right.code).toBe(200);
    });

    it('marks an object with finalizers and keeps it until the last one is gone', async () => {
      const { call, create, get, patch, path } = scratch();
      await create('configmaps', configMap('held', {}, { finalizers: ['example.com/a', 'example.com/b'] }));

      const deleted = await call('DELETE', path('configmaps', 'held'));
      const marked = await get('configmaps', 'held');
      await patch('merge', path('configmaps', 'held'), { metadata: { finalizers: ['example.com/b'] } });
      const still = await get('configmaps', 'held');
      const last = await patch('merge', path('configmaps', 'held'), { metadata: { finalizers: null } });
      const after = await call('GET', path('configmaps', 'held'));

      expect(deleted.code).toBe(200);
      expect(deleted.body).toMatchObject({ kind: 'ConfigMap', metadata: { name: 'held' } });
      expect(marked.metadata).toMatchObject({
        deletionTimestamp: expect.stringMatching(/Z$/),
        deletionGracePeriodSeconds: 0,
        finalizers: ['example.com/a', 'example.com/b'],
      });
      expect(still.metadata?.deletionTimestamp).toBe(marked.metadata?.deletionTimestamp);
      expect(last.code).toBe(200);
      expect(after.code).toBe(404);
    });

    it('takes no new finalizers once deletion has begun', async () => {
      const { call, create, patch, path } = scratch();
      await create('configmaps', configMap('closing', {}, { finalizers: ['example.com/a'] }));
      await call('DELETE', path('configmaps', 'closing'));

      const reply = await patch('merge', path('configmaps', 'closing'), {
        metadata: { finalizers: ['example.com/a', 'example.com/new'] },
      });
      await patch('merge', path('configmaps', 'closing'), { metadata: { finalizers: null } });

      expect(reply.code).toBe(422);
      expect(reply.body.details?.causes?.[0]).toMatchObject({
        reason: 'FieldValueForbidden',
        field: 'metadata.finalizers',
        message:
          'Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"example.com/new"}',
      });
    });

    it('raises the generation when deletion is marked', async () => {
      const { call, create, get, patch, path } = scratch();
      await create('deployments', deployment('marked', {}, { finalizers: ['example.com/a'] }));

      await call('DELETE', path('deployments', 'marked'));
      const marked = await get('deployments', 'marked');
      await patch('merge', path('deployments', 'marked'), { metadata: { finalizers: null } });

      expect(marked.metadata?.generation).toBe(2);
    });

    it('does not let a client set deletionTimestamp', async () => {
      const { create } = scratch();

      const made = await create('configmaps', configMap('unmarked', {}, { deletionTimestamp: '2030-01-01T00:00:00Z' }));

      expect(made.metadata).not.toHaveProperty('deletionTimestamp');
    });

    it('refuses a finalizer without a domain', async () => {
      const { call, path } = scratch();

      const reply = await call('POST', path('configmaps'), { body: configMap('bad', {}, { finalizers: ['nope'] }) });

      expect(reply.code).toBe(422);
      expect(reply.body.details?.causes?.[0]).toMatchObject({
        reason: 'FieldValueInvalid',
        field: 'metadata.finalizers[0]',
      });
    });

    it('deletes the selected part of a collection', async () => {
      const { call, create, path } = scratch();
      for (const [name, group] of [
        ['bulk-1', 'a'],
        ['bulk-2', 'a'],
        ['bulk-3', 'b'],
      ] as const) {
        await create('configmaps', configMap(name, {}, { labels: { bulk: group } }));
      }

      const reply = await call('DELETE', path('configmaps'), { query: { labelSelector: 'bulk=a' } });
      const left = await call('GET', path('configmaps'), { query: { labelSelector: 'bulk' } });

      expect(expectCode(200, reply)).toMatchObject({ kind: 'ConfigMapList' });
      expect(reply.body.items?.map(({ metadata }) => metadata?.name)).toEqual(['bulk-1', 'bulk-2']);
      expect(left.body.items?.map(({ metadata }) => metadata?.name)).toEqual(['bulk-3']);
    });

    it('takes options from the query as well as from the body', async () => {
      const { call, create, get, patch, path } = scratch();
      await create('deployments', deployment('by-query'));

      const reply = await call('DELETE', path('deployments', 'by-query'), {
        query: { propagationPolicy: 'Orphan', dryRun: 'All' },
      });

      expect(reply.code).toBe(200);
      expect((await get('deployments', 'by-query')).metadata).not.toHaveProperty('deletionTimestamp');
      await patch('merge', path('deployments', 'by-query'), { metadata: { finalizers: null } });
    });

    it('refuses a propagation policy that it does not know', async () => {
      const { call, create, path } = scratch();
      await create('configmaps', configMap('policy'));

      const reply = await call('DELETE', path('configmaps', 'policy'), { body: { propagationPolicy: 'Sideways' } });

      expect(reply.code).toBe(422);
      expect(reply.body.message).toContain('propagationPolicy');
    });
  });
}
