import { describe, expect, it } from '@jest/globals';
import type { Target } from './client.ts';
import { configMap } from './samples.ts';
import { expectCode, useScratch } from './scratch.ts';

/** JSON patch and merge patch. */
export function patchCases(target: () => Target): void {
  describe('patch', () => {
    const scratch = useScratch(target);

    it('merges objects, replaces values and removes what is null', async () => {
      const { create, patch, path } = scratch();
      await create('configmaps', configMap('merged', { keep: '1', change: '1', drop: '1' }));

      const reply = await patch('merge', path('configmaps', 'merged'), { data: { change: '2', drop: null, add: '3' } });

      expect(expectCode(200, reply).data).toEqual({ keep: '1', change: '2', add: '3' });
    });

    it('replaces whole lists in a merge patch', async () => {
      const { create, patch, path } = scratch();
      await create('configmaps', configMap('lists', {}, { finalizers: ['example.com/a', 'example.com/b'] }));

      const changed = await patch('merge', path('configmaps', 'lists'), {
        metadata: { finalizers: ['example.com/c'] },
      });
      await patch('merge', path('configmaps', 'lists'), { metadata: { finalizers: null } });

      expect(expectCode(200, changed).metadata?.finalizers).toEqual(['example.com/c']);
    });

    it('keeps the resourceVersion when a patch changes nothing', async () => {
      const { create, patch, path } = scratch();
      const made = await create('configmaps', configMap('same', { a: '1' }));

      const merged = await patch('merge', path('configmaps', 'same'), { data: { a: '1' } });
      const strategic = await patch('strategic', path('configmaps', 'same'), { data: { a: '1' } });
      const json = await patch('json', path('configmaps', 'same'), [{ op: 'replace', path: '/data/a', value: '1' }]);

      const versions = [merged, strategic, json].map((reply) => expectCode(200, reply).metadata?.resourceVersion);
      expect(new Set(versions)).toEqual(new Set([made.metadata?.resourceVersion]));
    });

    it('treats a resourceVersion in a merge patch as a precondition', async () => {
      const { create, patch, path } = scratch();
      const made = await create('configmaps', configMap('precondition'));
      const { resourceVersion } = made.metadata ?? {};

      const first = await patch('merge', path('configmaps', 'precondition'), {
        metadata: { resourceVersion },
        data: { a: '1' },
      });
      const second = await patch('merge', path('configmaps', 'precondition'), {
        metadata: { resourceVersion },
        data: { a: '2' },
      });

      expect(first.code).toBe(200);
      expect(second.code).toBe(409);
      expect(second.body.message).toBe(
        'Operation cannot be fulfilled on configmaps "precondition": the object has been modified; please apply your changes to the latest version and try again',
      );
    });

    it('refuses to patch what does not exist, whatever the type but apply', async () => {
      const { patch, path } = scratch();

      const merge = await patch('merge', path('configmaps', 'absent'), { data: {} });
      const json = await patch('json', path('configmaps', 'absent'), []);
      const strategic = await patch('strategic', path('configmaps', 'absent'), {});

      expect([merge, json, strategic].map(({ code }) => code)).toEqual([404, 404, 404]);
    });

    it('runs the operations of a JSON patch in order', async () => {
      const { create, patch, path } = scratch();
      await create('configmaps', configMap('operations', { a: '1', b: '2' }));

      const reply = await patch('json', path('configmaps', 'operations'), [
        { op: 'test', path: '/data/a', value: '1' },
        { op: 'add', path: '/data/c~1d', value: '3' },
        { op: 'copy', from: '/data/c~1d', path: '/data/e' },
        { op: 'move', from: '/data/b', path: '/data/f' },
        { op: 'remove', path: '/data/c~1d' },
        { op: 'replace', path: '/data/a', value: '9' },
      ]);

      expect(expectCode(200, reply).data).toEqual({ a: '9', e: '3', f: '2' });
    });

    it('refuses a JSON patch whose test fails and changes nothing', async () => {
      const { create, get, patch, path } = scratch();
      const made = await create('configmaps', configMap('tested', { a: '1' }));

      const reply = await patch('json', path('configmaps', 'tested'), [
        { op: 'add', path: '/data/b', value: '2' },
        { op: 'test', path: '/data/a', value: 'other' },
      ]);

      expect(reply.code).toBe(422);
      expect(reply.body).toMatchObject({ reason: 'Invalid' });
      expect(reply.body.message).toBe('the server rejected our request due to an error in our request');
      expect(await get('configmaps', 'tested')).toEqual(made);
    });

    it('takes a resourceVersion test as a precondition', async () => {
      const { create, patch, path } = scratch();
      const made = await create('configmaps', configMap('guarded', { a: '1' }));
      const guard = { op: 'test', path: '/metadata/resourceVersion', value: made.metadata?.resourceVersion };

      const first = await patch('json', path('configmaps', 'guarded'), [
        guard,
        { op: 'replace', path: '/data/a', value: '2' },
      ]);
      const second = await patch('json', path('configmaps', 'guarded'), [
        guard,
        { op: 'replace', path: '/data/a', value: '3' },
      ]);

      expect(first.code).toBe(200);
      expect(second.code).toBe(422);
    });

    it('refuses a JSON patch of a path that is not there', async () => {
      const { create, patch, path } = scratch();
      await create('configmaps', configMap('pathless', { a: '1' }));

      const remove = await patch('json', path('configmaps', 'pathless'), [{ op: 'remove', path: '/data/none' }]);
      const add = await patch('json', path('configmaps', 'pathless'), [{ op: 'add', path: '/no/such', value: 1 }]);

      expect(remove.code).toBe(422);
      expect(add.code).toBe(422);
      expect(remove.body.message).toContain('the server rejected our request due to an error in our request');
    });

    it('refuses a body that is no JSON patch', async () => {
      const { create, patch, path } = scratch();
      await create('configmaps', configMap('no-patch'));

      const reply = await patch('json', path('configmaps', 'no-patch'), { data: {} });

      expect(reply.code).toBe(400);
      expect(reply.body.reason).toBe('BadRequest');
    });

    it('refuses a patch that changes the name, or names another uid', async () => {
      const { create, patch, path } = scratch();
      await create('configmaps', configMap('renamed'));

      const name = await patch('merge', path('configmaps', 'renamed'), { metadata: { name: 'other' } });
      const uid = await patch('merge', path('configmaps', 'renamed'), {
        metadata: { uid: '00000000-0000-4000-8000-000000000000' },
      });

      expect(name.code).toBe(400);
      expect(name.body.message).toBe('the name of the object (other) does not match the name on the URL (renamed)');
      expect(uid.code).toBe(422);
      expect(uid.body.details?.causes?.[0]).toMatchObject({ reason: 'FieldValueInvalid', field: 'metadata.uid' });
    });

    it('refuses a patch whose result is invalid', async () => {
      const { create, patch, path } = scratch();
      await create('configmaps', configMap('invalid', { a: '1' }));

      const key = await patch('merge', path('configmaps', 'invalid'), { data: { 'no spaces': '1' } });
      const type = await patch('merge', path('configmaps', 'invalid'), { data: { a: 5 } });

      expect(key.code).toBe(422);
      expect(key.body.details?.causes?.[0]).toMatchObject({ reason: 'FieldValueInvalid', field: 'data[no spaces]' });
      expect(type.code).toBe(422);
      expect(type.body.details?.causes?.[0]).toMatchObject({ reason: 'FieldValueInvalid', field: 'patch' });
      expect(type.body.message).toContain('cannot unmarshal number into Go struct field ConfigMap.data of type string');
    });

    it('refuses a media type that is no patch', async () => {
      const { call, create, path } = scratch();
      await create('configmaps', configMap('media'));

      const reply = await call('PATCH', path('configmaps', 'media'), { body: {} });

      expect(reply.code).toBe(415);
      expect(reply.body).toMatchObject({ kind: 'Status', reason: 'UnsupportedMediaType' });
    });
  });
}
