import { describe, expect, it } from '@jest/globals';
import type { Body, Target } from './client.ts';
import { configMap, deployment } from './samples.ts';
import { expectCode, useScratch } from './scratch.ts';

/** managedFields of plain writes. */
export function managerCases(target: () => Target): void {
  describe('field managers', () => {
    const scratch = useScratch(target);

    it('names the manager after the user agent up to the first slash, when the query does not', async () => {
      const { create } = scratch();

      const made = await create('configmaps', configMap('agent', { a: '1' }), {
        headers: { 'user-agent': 'tool/v1.2 (linux)' },
      });

      expect(made.metadata?.managedFields).toMatchObject([
        {
          manager: 'tool',
          operation: 'Update',
          apiVersion: 'v1',
          fieldsType: 'FieldsV1',
          fieldsV1: { 'f:data': { '.': {}, 'f:a': {} } },
        },
      ]);
    });

    it('lets the query name the manager', async () => {
      const { create } = scratch();

      const made = await create('configmaps', configMap('query', { a: '1' }), {
        query: { fieldManager: 'me' },
        headers: { 'user-agent': 'tool/v1' },
      });

      expect(managersOf(made)).toEqual(['me']);
    });

    it('records no manager who set no field', async () => {
      const { create } = scratch();

      const made = await create('configmaps', configMap('nothing'));

      expect(made.metadata).not.toHaveProperty('managedFields');
    });

    it('moves a field to whoever changed it last', async () => {
      const { create, patch, path } = scratch();
      await create('configmaps', configMap('moved', { a: '1', b: '1' }), { query: { fieldManager: 'one' } });

      const reply = await patch('merge', path('configmaps', 'moved'), { data: { a: '2' } }, { fieldManager: 'two' });

      expect(expectCode(200, reply).metadata?.managedFields).toMatchObject([
        { manager: 'one', fieldsV1: { 'f:data': { '.': {}, 'f:b': {} } } },
        { manager: 'two', fieldsV1: { 'f:data': { 'f:a': {} } } },
      ]);
    });

    it('leaves a field with its manager when another writes the same value', async () => {
      const { create, patch, path } = scratch();
      await create('configmaps', configMap('equal', { a: '1' }), { query: { fieldManager: 'one' } });

      const reply = await patch('merge', path('configmaps', 'equal'), { data: { a: '1' } }, { fieldManager: 'two' });

      expect(managersOf(expectCode(200, reply))).toEqual(['one']);
    });

    it('drops a manager who owns nothing any more', async () => {
      const { create, patch, path } = scratch();
      await create('configmaps', configMap('empty', { a: '1' }), { query: { fieldManager: 'one' } });
      await patch('merge', path('configmaps', 'empty'), { data: { b: '2' } }, { fieldManager: 'two' });

      const reply = await patch('merge', path('configmaps', 'empty'), { data: { b: null } }, { fieldManager: 'three' });

      expect(managersOf(expectCode(200, reply))).toEqual(['one']);
    });

    it('tracks labels, annotations, finalizers and owners by key', async () => {
      const { create } = scratch();
      const metadata = {
        labels: { l: '1' },
        annotations: { 'example.com/a': '1' },
        ownerReferences: [
          { apiVersion: 'v1', kind: 'ConfigMap', name: 'o', uid: '00000000-0000-4000-8000-000000000001' },
        ],
      };

      const made = await create(
        'secrets',
        { metadata: { name: 'metadata', ...metadata } },
        {
          query: { fieldManager: 'one', dryRun: 'All' },
        },
      );

      expect(made.metadata?.managedFields?.[0]?.fieldsV1).toEqual({
        'f:metadata': {
          'f:labels': { '.': {}, 'f:l': {} },
          'f:annotations': { '.': {}, 'f:example.com/a': {} },
          'f:ownerReferences': { '.': {}, 'k:{"uid":"00000000-0000-4000-8000-000000000001"}': {} },
        },
        'f:type': {},
      });
    });

    it('keeps writes of the status subresource apart', async () => {
      const { create, patch, path } = scratch();
      await create('deployments', deployment('statuses', { paused: true }), { query: { fieldManager: 'one' } });

      const reply = await patch(
        'merge',
        path('deployments', 'statuses', 'status'),
        { status: { collisionCount: 3 } },
        { fieldManager: 'one' },
      );

      const entries = (expectCode(200, reply).metadata?.managedFields ?? []).filter(({ manager }) => manager === 'one');
      expect(entries).toMatchObject([
        { manager: 'one', operation: 'Update', fieldsV1: { 'f:spec': expect.anything() } },
        { manager: 'one', subresource: 'status', fieldsV1: { 'f:status': { 'f:collisionCount': {} } } },
      ]);
    });

    it('forgets all managers when a write sets an empty list', async () => {
      const { create, patch, path } = scratch();
      await create('configmaps', configMap('cleared', { a: '1' }), { query: { fieldManager: 'one' } });

      const reply = await patch('merge', path('configmaps', 'cleared'), { metadata: { managedFields: [{}] } });

      expect(expectCode(200, reply).metadata).not.toHaveProperty('managedFields');
    });

    it('refuses a field manager name that is too long', async () => {
      const { call, path } = scratch();

      const reply = await call('POST', path('configmaps'), {
        query: { fieldManager: 'x'.repeat(129) },
        body: configMap('long-manager'),
      });

      expect(reply.code).toBe(422);
      expect(reply.body.details?.causes?.[0]).toMatchObject({ field: 'fieldManager', reason: 'FieldValueTooLong' });
    });
  });
}

function managersOf({ metadata }: Body): (string | undefined)[] {
  return (metadata?.managedFields ?? []).map(({ manager }) => manager);
}
