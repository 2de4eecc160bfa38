import { describe, expect, it } from '@jest/globals';
import type { Body, Reply, Target } from './client.ts';
import { configMap, deployment } from './samples.ts';
import { expectCode, useScratch } from './scratch.ts';

/** Server-side apply: ownership of fields, conflicts, removal. */
export function applyCases(target: () => Target): void {
  describe('server-side apply', () => {
    const scratch = useScratch(target);

    function apply(object: object, manager: string, force = false): Promise<Reply> {
      const { path, patch } = scratch();
      const { kind, metadata } = object as { kind: string; metadata: { name: string } };
      const plural = `${kind.toLowerCase()}s`;
      return patch('apply', path(plural, metadata.name), object, {
        fieldManager: manager,
        ...(force ? { force } : {}),
      });
    }

    it('creates what is absent with 201 and owns its fields', async () => {
      const reply = await apply(configMap('born', { a: '1' }), 'one');

      const made = expectCode(201, reply);
      expect(made.metadata?.managedFields).toEqual([
        {
          manager: 'one',
          operation: 'Apply',
          apiVersion: 'v1',
          time: expect.stringMatching(/Z$/),
          fieldsType: 'FieldsV1',
          fieldsV1: { 'f:data': { 'f:a': {} } },
        },
      ]);
    });

    it('changes nothing when applied again, not even the resourceVersion', async () => {
      const first = expectCode(201, await apply(configMap('again', { a: '1' }), 'one'));

      const second = expectCode(200, await apply(configMap('again', { a: '1' }), 'one'));

      expect(second).toEqual(first);
    });

    it('removes a field that its only owner no longer applies', async () => {
      await apply(configMap('shrinks', { a: '1', b: '2' }), 'one');

      const reply = await apply(configMap('shrinks', { a: '1' }), 'one');

      expect(expectCode(200, reply).data).toEqual({ a: '1' });
    });

    it('keeps fields of other managers', async () => {
      await apply(configMap('shared', { a: '1' }), 'one');

      const added = await apply(configMap('shared', { b: '2' }), 'two');
      const dropped = await apply({ ...configMap('shared'), data: undefined }, 'one');

      expect(expectCode(200, added).data).toEqual({ a: '1', b: '2' });
      expect(expectCode(200, dropped).data).toEqual({ b: '2' });
    });

    it('refuses to change a field that another manager applied, and names it', async () => {
      await apply(configMap('contested', { a: '1' }), 'one');

      const reply = await apply(configMap('contested', { a: '2' }), 'two');

      expect(reply.code).toBe(409);
      expect(reply.body).toMatchObject({
        reason: 'Conflict',
        message: 'Apply failed with 1 conflict: conflict with "one": .data.a',
        details: {
          causes: [{ reason: 'FieldManagerConflict', message: 'conflict with "one"', field: '.data.a' }],
        },
      });
    });

    it('lists all conflicts', async () => {
      await apply(configMap('contests', { a: '1', b: '1' }), 'one');

      const reply = await apply(configMap('contests', { a: '2', b: '2' }), 'two');

      expect(reply.body.message).toBe('Apply failed with 2 conflicts: conflicts with "one":\n- .data.a\n- .data.b');
      expect(reply.body.details?.causes?.map(({ field }) => field)).toEqual(['.data.a', '.data.b']);
    });

    it('names the version with which a manager updated the field', async () => {
      const { create } = scratch();
      await create('configmaps', configMap('updated', { a: '1' }), { query: { fieldManager: 'writer' } });

      const reply = await apply(configMap('updated', { a: '2' }), 'two');

      expect(reply.body.message).toBe('Apply failed with 1 conflict: conflict with "writer" using v1: .data.a');
    });

    it('takes a field by force', async () => {
      await apply(configMap('forced', { a: '1', b: '1' }), 'one');

      const reply = await apply(configMap('forced', { a: '2' }), 'two', true);

      const forced = expectCode(200, reply);
      expect(forced.data).toEqual({ a: '2', b: '1' });
      expect(fieldsOf(forced)).toEqual({ one: { 'f:data': { 'f:b': {} } }, two: { 'f:data': { 'f:a': {} } } });
    });

    it('shares a field that two managers apply with the same value', async () => {
      await apply(configMap('agreed', { a: '1' }), 'one');

      await apply(configMap('agreed', { a: '1' }), 'two');
      const after = await apply({ ...configMap('agreed'), data: undefined }, 'one');

      const left = expectCode(200, after);
      expect(left.data).toEqual({ a: '1' });
      expect(fieldsOf(left)).toEqual({ two: { 'f:data': { 'f:a': {} } } });
    });

    it('lets an update take a field over from who applied it', async () => {
      const { patch, path } = scratch();
      await apply(configMap('taken', { a: '1', b: '1' }), 'one');

      const reply = await patch('merge', path('configmaps', 'taken'), { data: { a: '2' } }, { fieldManager: 'writer' });

      expect(fieldsOf(expectCode(200, reply))).toEqual({
        one: { 'f:data': { 'f:b': {} } },
        writer: { 'f:data': { 'f:a': {} } },
      });
    });

    it('keeps an Apply and an Update entry of the same manager apart', async () => {
      const { patch, path } = scratch();
      await apply(configMap('apart', { a: '1' }), 'one');

      const reply = await patch('merge', path('configmaps', 'apart'), { data: { b: '2' } }, { fieldManager: 'one' });

      const entries = expectCode(200, reply).metadata?.managedFields ?? [];
      expect(entries.map(({ manager, operation }) => [manager, operation])).toEqual([
        ['one', 'Apply'],
        ['one', 'Update'],
      ]);
    });

    it('merges lists of maps by their keys', async () => {
      await apply(withContainers('listed', [{ name: 'app', image: 'example.com/app:1' }]), 'one');

      const reply = await apply(withContainers('listed', [{ name: 'side', image: 'example.com/side:1' }]), 'two');

      const names = containersOf(expectCode(200, reply)).map(({ name }) => name);
      expect(names).toEqual(['app', 'side']);
      expect(fieldsOf(reply.body)['two']).toMatchObject({
        'f:spec': {
          'f:template': {
            'f:spec': { 'f:containers': { 'k:{"name":"side"}': { '.': {}, 'f:name': {}, 'f:image': {} } } },
          },
        },
      });
    });

    it('removes an element of such a list when its owner leaves it out', async () => {
      const both = ['app', 'side'].map((name) => ({ name, image: `example.com/${name}:1` }));
      await apply(withContainers('element', both), 'one');

      const reply = await apply(withContainers('element', both.slice(0, 1)), 'one');

      expect(containersOf(expectCode(200, reply)).map(({ name }) => name)).toEqual(['app']);
    });

    it('completes the keys of a list with their defaults', async () => {
      const ports = [{ containerPort: 80 }];

      const reply = await apply(withContainers('keys', [{ name: 'app', image: 'example.com/app:1', ports }]), 'one');

      expect(JSON.stringify(fieldsOf(expectCode(201, reply)))).toContain(
        JSON.stringify('k:{"containerPort":80,"protocol":"TCP"}'),
      );
    });

    it('refuses two elements with the same key', async () => {
      const twice = ['1', '2'].map((version) => ({ name: 'app', image: `example.com/app:${version}` }));

      const reply = await apply(withContainers('twice', twice), 'one');

      expect(reply.code).toBe(500);
      expect(reply.body.message).toContain('duplicate entries for key [name="app"]');
    });

    it('needs a field manager', async () => {
      const { path, patch } = scratch();

      const reply = await patch('apply', path('configmaps', 'unnamed'), configMap('unnamed'));

      expect(reply.code).toBe(422);
      expect(reply.body.details?.causes?.[0]).toMatchObject({
        field: 'fieldManager',
        message: 'Required value: is required for apply patch',
      });
    });

    it('refuses managedFields in what is applied', async () => {
      const reply = await apply(configMap('managed', {}, { managedFields: [{ manager: 'x' }] }), 'one');

      expect(reply.code).toBe(400);
      expect(reply.body.message).toBe('metadata.managedFields must be nil');
    });

    it('refuses force with another patch type', async () => {
      const { create, patch, path } = scratch();
      await create('configmaps', configMap('not-forced'));

      const reply = await patch('merge', path('configmaps', 'not-forced'), {}, { force: true });

      expect(reply.code).toBe(422);
      expect(reply.body.details?.causes?.[0]?.message).toBe('Forbidden: may not be specified for non-apply patch');
    });

    it('needs apiVersion and kind in what is applied', async () => {
      const { path, patch } = scratch();

      const reply = await patch('apply', path('configmaps', 'kindless'), { data: {} }, { fieldManager: 'one' });

      expect(reply.code).toBe(400);
    });

    it('treats a resourceVersion in what is applied as a precondition', async () => {
      await apply(configMap('versioned', { a: '1' }), 'one');

      const reply = await apply(configMap('versioned', { a: '2' }, { resourceVersion: '1' }), 'one');

      expect(reply.code).toBe(409);
      expect(reply.body.message).toContain('the object has been modified');
    });

    it('takes YAML', async () => {
      const { path, patch } = scratch();
      const text = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: yaml}\ndata:\n  a: "1"\n';

      const reply = await patch('apply', path('configmaps', 'yaml'), text, { fieldManager: 'one' });

      expect(expectCode(201, reply).data).toEqual({ a: '1' });
    });
  });
}

function withContainers(name: string, containers: readonly object[]): object {
  const labels = { app: name };
  return deployment(name, { template: { metadata: { labels }, spec: { containers } } });
}

function containersOf({ spec }: Body): Record<string, unknown>[] {
  return (spec as { template: { spec: { containers: Record<string, unknown>[] } } }).template.spec.containers;
}

function fieldsOf({ metadata }: Body): Record<string, object> {
  return Object.fromEntries(
    (metadata?.managedFields ?? []).map(({ manager, fieldsV1 }) => [manager ?? '', fieldsV1 ?? {}]),
  );
}
