import { describe, expect, it } from '@jest/globals';
import type { Target } from './client.ts';
import type { AdmissionRequest, AdmissionResponse } from './hook-server.ts';
import { useHooks } from './hooks.ts';
import { expectCode, useScratch } from './scratch.ts';

/** Mutating webhooks: order, patches, reinvocation. */
export function mutatingCases(target: () => Target): void {
  describe('mutating webhooks', () => {
    const scratch = useScratch(target);
    const hooks = useHooks(scratch);

    function set(key: string, value: string): () => AdmissionResponse {
      return () => ({ patch: [{ op: 'add', path: `/data/${key}`, value }] });
    }

    it('change what is stored', async () => {
      const { call, get, path } = scratch();
      const { register, seen } = hooks();
      await register('Mutating', 'a', { first: { answer: set('added', 'yes') } });

      const reply = await call('POST', path('configmaps'), { body: seen('changed', { a: '1' }) });

      expect(expectCode(201, reply).data).toEqual({ a: '1', added: 'yes' });
      expect((await get('configmaps', 'changed')).data).toEqual({ a: '1', added: 'yes' });
    });

    it('are asked with a complete review', async () => {
      const { call, namespace, path } = scratch();
      const { register, requests, seen } = hooks();
      await register('Mutating', 'a', { first: {} });

      await call('POST', path('configmaps'), { body: seen('reviewed', { a: '1' }), query: { fieldManager: 'me' } });

      const configMaps = { group: '', version: 'v1', resource: 'configmaps' };
      const kind = { group: '', version: 'v1', kind: 'ConfigMap' };
      expect(requests[0]).toMatchObject({
        uid: expect.stringMatching(/^[0-9a-f-]{36}$/),
        kind,
        resource: configMaps,
        requestKind: kind,
        requestResource: configMaps,
        name: 'reviewed',
        namespace,
        operation: 'CREATE',
        object: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'reviewed', namespace }, data: { a: '1' } },
        oldObject: null,
        dryRun: false,
        options: { apiVersion: 'meta.k8s.io/v1', kind: 'CreateOptions', fieldManager: 'me' },
      });
      expect(requests[0]).not.toHaveProperty('subResource');
      expect(requests[0]?.userInfo.groups).toContain('system:authenticated');
    });

    it('show a new object with managed fields, but before it has a uid or a resourceVersion', async () => {
      const { call, path } = scratch();
      const { register, requests, seen } = hooks();
      await register('Mutating', 'a', { first: {} });

      await call('POST', path('configmaps'), { body: seen('early', { a: '1' }) });

      const metadata = requests[0]?.object?.metadata;
      expect(metadata?.managedFields).toHaveLength(1);
      for (const later of ['uid', 'creationTimestamp', 'resourceVersion']) {
        expect(metadata).not.toHaveProperty(later);
      }
    });

    it('leave the name empty while it is still to be generated', async () => {
      const { call, path } = scratch();
      const { label, register, requests } = hooks();
      await register('Mutating', 'a', { first: {} });

      const body = { metadata: { generateName: 'made-', labels: { hooks: label } } };
      expectCode(201, await call('POST', path('configmaps'), { body }));

      expect(requests[0]?.name ?? '').toBe('');
      expect(requests[0]?.object?.metadata).toMatchObject({ generateName: 'made-' });
    });

    it('run in order of configuration name, then as listed', async () => {
      const { call, path } = scratch();
      const { called, register, seen } = hooks();
      await register('Mutating', 'b', { third: {} });
      await register('Mutating', 'a', { second: {}, first: {} });

      await call('POST', path('configmaps'), { body: seen('ordered') });

      expect(called).toEqual(['second', 'first', 'third']);
    });

    it('see what those before them changed', async () => {
      const { call, path } = scratch();
      const { register, requests, seen } = hooks();
      await register('Mutating', 'a', { first: { answer: set('x', '1') }, second: {} });

      await call('POST', path('configmaps'), { body: seen('chained', { a: '1' }) });

      expect(requests.map(({ object }) => object?.data)).toEqual([{ a: '1' }, { a: '1', x: '1' }]);
    });

    it('run again when a later one changed the object, if they ask for it', async () => {
      const { call, path } = scratch();
      const { called, register, seen } = hooks();
      await register('Mutating', 'a', {
        again: { fields: { reinvocationPolicy: 'IfNeeded' } },
        once: { fields: { reinvocationPolicy: 'Never' } },
        changes: { answer: set('x', '1') },
      });

      await call('POST', path('configmaps'), { body: seen('reinvoked', { a: '1' }) });

      expect(called).toEqual(['again', 'once', 'changes', 'again']);
    });

    it('do not run again when nothing changed after them', async () => {
      const { call, path } = scratch();
      const { called, register, seen } = hooks();
      await register('Mutating', 'a', {
        again: { answer: set('x', '1'), fields: { reinvocationPolicy: 'IfNeeded' } },
        idle: {},
      });

      await call('POST', path('configmaps'), { body: seen('settled', { a: '1' }) });

      expect(called).toEqual(['again', 'idle']);
    });

    it('come before validation, which sees the result', async () => {
      const { call, path } = scratch();
      const { called, register, requests, seen } = hooks();
      await register('Validating', 'a', { validates: {} });
      await register('Mutating', 'b', { mutates: { answer: set('x', '1') } });

      await call('POST', path('configmaps'), { body: seen('validated', { a: '1' }) });

      expect(called).toEqual(['mutates', 'validates']);
      expect(requests[1]?.object?.data).toEqual({ a: '1', x: '1' });
    });

    it('must leave a valid object', async () => {
      const { call, path } = scratch();
      const { register, seen } = hooks();
      await register('Mutating', 'a', { breaks: { answer: set('not ok', '1') } });

      const reply = await call('POST', path('configmaps'), { body: seen('broken', { a: '1' }) });

      expect(reply.code).toBe(422);
      expect(reply.body.details?.causes?.[0]).toMatchObject({ field: 'data[not ok]' });
    });

    it('fail the request with a patch that does not fit', async () => {
      const { call, path } = scratch();
      const { register, seen } = hooks();
      await register('Mutating', 'a', {
        misses: { answer: () => ({ patch: [{ op: 'remove', path: '/data/none' }] }) },
      });

      const reply = await call('POST', path('configmaps'), { body: seen('missed', { a: '1' }) });

      expect(reply.code).toBe(500);
      expect(reply.body.reason).toBe('InternalError');
    });

    it('make nobody the manager of what they change', async () => {
      const { call, path } = scratch();
      const { register, seen } = hooks();
      await register('Mutating', 'a', { first: { answer: set('added', 'yes') } });

      const reply = await call('POST', path('configmaps'), {
        body: seen('managed', { a: '1' }),
        query: { fieldManager: 'me' },
      });

      expect(expectCode(201, reply).metadata?.managedFields).toMatchObject([
        { manager: 'me', fieldsV1: { 'f:data': { '.': {}, 'f:a': {} } } },
      ]);
      expect(JSON.stringify(reply.body.metadata?.managedFields)).not.toContain('f:added');
    });

    it('see old and new object of an update, and only the old one of a deletion', async () => {
      const { call, path, patch } = scratch();
      const { register, requests, seen } = hooks();
      expectCode(201, await call('POST', path('configmaps'), { body: seen('life', { a: '1' }) }));
      await register('Mutating', 'a', { first: {} });

      await patch('merge', path('configmaps', 'life'), { data: { a: '2' } });
      await call('DELETE', path('configmaps', 'life'));

      const [update, deletion] = requests;
      expect(summary(update)).toEqual({ operation: 'UPDATE', old: { a: '1' }, now: { a: '2' } });
      expect(update?.options).toMatchObject({ kind: 'UpdateOptions' });
      expect(summary(deletion)).toEqual({ operation: 'DELETE', old: { a: '2' }, now: undefined });
      expect(deletion?.options).toMatchObject({ kind: 'DeleteOptions' });
    });

    it('are also asked about an update that changes nothing', async () => {
      const { call, path, patch } = scratch();
      const { called, register, seen } = hooks();
      expectCode(201, await call('POST', path('configmaps'), { body: seen('idle', { a: '1' }) }));
      await register('Mutating', 'a', { first: {} });

      await patch('merge', path('configmaps', 'idle'), { data: { a: '1' } });

      expect(called).toEqual(['first']);
    });
  });
}

function summary(request: AdmissionRequest | undefined): object {
  return { operation: request?.operation, old: request?.oldObject?.data, now: request?.object?.data };
}
