import { describe, expect, it } from '@jest/globals';
import type { Body, Target } from './client.ts';
import { configMap, deployment, podSpec, service } from './samples.ts';
import { expectCode, useScratch } from './scratch.ts';

/** Strategic merge patch: lists of maps merge by the key that their type names. */
export function strategicCases(target: () => Target): void {
  describe('strategic merge patch', () => {
    const scratch = useScratch(target);

    it('merges containers by name and environment by name', async () => {
      const { create, patch, path } = scratch();
      const containers = [
        { name: 'app', image: 'example.com/app:1', env: [{ name: 'A', value: '1' }] },
        { name: 'side', image: 'example.com/side:1' },
      ];
      await create('deployments', templated('containers', { containers }));

      const reply = await patch(
        'strategic',
        path('deployments', 'containers'),
        template({
          containers: [{ name: 'app', image: 'example.com/app:2', env: [{ name: 'B', value: '2' }] }],
        }),
      );

      expect(containersOf(expectCode(200, reply))).toMatchObject([
        {
          name: 'app',
          image: 'example.com/app:2',
          env: [
            { name: 'B', value: '2' },
            { name: 'A', value: '1' },
          ],
        },
        { name: 'side', image: 'example.com/side:1' },
      ]);
    });

    it('puts a new element before those it does not name', async () => {
      const { create, patch, path } = scratch();
      await create('deployments', templated('added', podSpec()));

      const reply = await patch(
        'strategic',
        path('deployments', 'added'),
        template({ containers: [{ name: 'new', image: 'example.com/new:1' }] }),
      );

      expect(containersOf(expectCode(200, reply)).map(({ name }) => name)).toEqual(['new', 'app']);
    });

    it('deletes an element by $patch: delete', async () => {
      const { create, patch, path } = scratch();
      const containers = [
        { name: 'app', image: 'example.com/app:1' },
        { name: 'side', image: 'example.com/side:1' },
      ];
      await create('deployments', templated('deletes', { containers }));

      const reply = await patch(
        'strategic',
        path('deployments', 'deletes'),
        template({ containers: [{ $patch: 'delete', name: 'side' }] }),
      );

      expect(containersOf(expectCode(200, reply)).map(({ name }) => name)).toEqual(['app']);
    });

    it('replaces a list by $patch: replace', async () => {
      const { create, patch, path } = scratch();
      await create('deployments', templated('replaces', podSpec()));

      const reply = await patch(
        'strategic',
        path('deployments', 'replaces'),
        template({ containers: [{ name: 'only', image: 'example.com/only:1' }, { $patch: 'replace' }] }),
      );

      expect(containersOf(expectCode(200, reply)).map(({ name }) => name)).toEqual(['only']);
    });

    it('replaces a map by $patch: replace', async () => {
      const { create, patch, path } = scratch();
      await create('configmaps', configMap('maps', { a: '1', b: '2' }));

      const reply = await patch('strategic', path('configmaps', 'maps'), { data: { $patch: 'replace', c: '3' } });

      expect(expectCode(200, reply).data).toEqual({ c: '3' });
    });

    it('orders a list by $setElementOrder', async () => {
      const { create, patch, path } = scratch();
      const containers = ['a', 'b', 'c'].map((name) => ({ name, image: 'example.com/x:1' }));
      await create('deployments', templated('ordered', { containers }));

      const reply = await patch(
        'strategic',
        path('deployments', 'ordered'),
        template({ '$setElementOrder/containers': [{ name: 'c' }, { name: 'a' }, { name: 'b' }] }),
      );

      expect(containersOf(expectCode(200, reply)).map(({ name }) => name)).toEqual(['c', 'a', 'b']);
    });

    it('removes values of a plain list by $deleteFromPrimitiveList and merges new ones in', async () => {
      const { create, patch, path } = scratch();
      await create('configmaps', configMap('primitive', {}, { finalizers: ['example.com/a', 'example.com/b'] }));

      const removed = await patch('strategic', path('configmaps', 'primitive'), {
        metadata: { '$deleteFromPrimitiveList/finalizers': ['example.com/a'] },
      });
      const added = await patch('strategic', path('configmaps', 'primitive'), {
        metadata: { finalizers: ['example.com/c'] },
      });
      await patch('merge', path('configmaps', 'primitive'), { metadata: { finalizers: null } });

      expect(expectCode(200, removed).metadata?.finalizers).toEqual(['example.com/b']);
      expect(new Set(expectCode(200, added).metadata?.finalizers)).toEqual(new Set(['example.com/b', 'example.com/c']));
    });

    it('keeps only the named keys by $retainKeys', async () => {
      const { create, patch, path } = scratch();
      await create('deployments', deployment('retains'));

      const reply = await patch('strategic', path('deployments', 'retains'), {
        spec: { strategy: { $retainKeys: ['type'], type: 'Recreate' } },
      });

      expect(expectCode(200, reply).spec?.['strategy']).toEqual({ type: 'Recreate' });
    });

    it('replaces a list without a merge key', async () => {
      const { create, patch, path } = scratch();
      const command = ['a', 'b'];
      await create(
        'deployments',
        templated('atomic', { containers: [{ name: 'app', image: 'x.example.com/x', command }] }),
      );

      const reply = await patch(
        'strategic',
        path('deployments', 'atomic'),
        template({ containers: [{ name: 'app', command: ['c'] }] }),
      );

      expect(containersOf(expectCode(200, reply))[0]?.['command']).toEqual(['c']);
    });

    it('merges ports of a Service by port', async () => {
      const { create, patch, path } = scratch();
      await create('services', service('ports'));

      const reply = await patch('strategic', path('services', 'ports'), {
        spec: {
          ports: [
            { name: 'web', port: 80, targetPort: 8080 },
            { name: 'tls', port: 443 },
          ],
        },
      });

      expect(expectCode(200, reply).spec?.['ports']).toMatchObject([
        { name: 'web', port: 80, targetPort: 8080 },
        { name: 'tls', port: 443, targetPort: 443, protocol: 'TCP' },
      ]);
    });

    it('removes what is null', async () => {
      const { create, patch, path } = scratch();
      await create('configmaps', configMap('nulls', { a: '1', b: '2' }));

      const reply = await patch('strategic', path('configmaps', 'nulls'), { data: { a: null } });

      expect(expectCode(200, reply).data).toEqual({ b: '2' });
    });
  });
}

function templated(name: string, spec: object): object {
  const labels = { app: name };
  return deployment(name, { template: { metadata: { labels }, spec } });
}

function template(spec: object): object {
  return { spec: { template: { spec } } };
}

function containersOf({ spec }: Body): Record<string, unknown>[] {
  const { template } = spec as { template: { spec: { containers: Record<string, unknown>[] } } };
  return template.spec.containers;
}
