import { beforeAll, describe, expect, it } from '@jest/globals';
import type { Target } from './client.ts';
import { configMap } from './samples.ts';
import { useScratch } from './scratch.ts';

/** Label and field selectors of lists; a watch takes the same. */
export function selectorCases(target: () => Target): void {
  describe('selectors', () => {
    const scratch = useScratch(target);

    beforeAll(async () => {
      const { create } = scratch();
      await create('configmaps', configMap('red-small', {}, { labels: { color: 'red', size: 's', sel: 'yes' } }));
      await create('configmaps', configMap('red-large', {}, { labels: { color: 'red', size: 'l', sel: 'yes' } }));
      await create('configmaps', configMap('blue', {}, { labels: { color: 'blue', sel: 'yes' } }));
      await create('configmaps', configMap('plain', {}, { labels: { sel: 'yes' } }));
      await create('secrets', { metadata: { name: 'typed' }, type: 'example.com/typed' });
      await create('secrets', { metadata: { name: 'opaque' } });
    });

    async function names(plural: string, query: Readonly<Record<string, string>>): Promise<(string | undefined)[]> {
      const { body } = await scratch().call('GET', scratch().path(plural), { query });
      return (body.items ?? []).map(({ metadata }) => metadata?.name);
    }

    it.each([
      ['color=red,sel', ['red-large', 'red-small']],
      ['color==red,sel', ['red-large', 'red-small']],
      ['color!=red,sel', ['blue', 'plain']],
      ['color in (red,blue),sel', ['blue', 'red-large', 'red-small']],
      ['color notin (red),sel', ['blue', 'plain']],
      ['color,sel', ['blue', 'red-large', 'red-small']],
      ['!color,sel', ['plain']],
      ['color=red,size=s', ['red-small']],
      ['color=green', []],
      ['size=,sel', []],
    ])('selects by label with %s', async (labelSelector, expected) => {
      expect(await names('configmaps', { labelSelector })).toEqual(expected);
    });

    it.each(['color=red=blue', 'a=b c', 'color in red', '-bad=1'])(
      'refuses the label selector %s',
      async (labelSelector) => {
        const { call, path } = scratch();

        const reply = await call('GET', path('configmaps'), { query: { labelSelector } });

        expect(reply.code).toBe(400);
        expect(reply.body).toMatchObject({ reason: 'BadRequest' });
      },
    );

    it.each([
      ['configmaps', 'metadata.name=blue', ['blue']],
      ['configmaps', 'metadata.name==blue', ['blue']],
      ['configmaps', 'metadata.name=blue,metadata.name!=blue', []],
      ['secrets', 'type=example.com/typed', ['typed']],
      ['secrets', 'type!=example.com/typed', ['opaque']],
    ])('selects %s by field with %s', async (plural, fieldSelector, expected) => {
      expect(await names(plural, { fieldSelector })).toEqual(expected);
    });

    it('joins label and field selectors', async () => {
      const query = { labelSelector: 'color=red', fieldSelector: 'metadata.name!=red-small' };

      expect(await names('configmaps', query)).toEqual(['red-large']);
    });

    it('refuses a field that the kind does not select by', async () => {
      const { call, path } = scratch();

      const configMaps = await call('GET', path('configmaps'), { query: { fieldSelector: 'data.a=1' } });
      const deployments = await call('GET', path('deployments'), { query: { fieldSelector: 'spec.replicas=1' } });

      expect(configMaps.code).toBe(400);
      expect(configMaps.body.message).toBe(
        '"data.a" is not a known field selector: only "metadata.name", "metadata.namespace"',
      );
      expect(deployments.code).toBe(400);
      expect(deployments.body.message).toBe(
        '"spec.replicas" is not a known field selector: only "metadata.name", "metadata.namespace"',
      );
    });

    it('selects across namespaces by metadata.namespace', async () => {
      const { call, namespace } = scratch();

      const { body } = await call('GET', '/api/v1/configmaps', {
        query: { fieldSelector: `metadata.namespace=${namespace}`, labelSelector: 'color=blue' },
      });

      expect(body.items?.map(({ metadata }) => metadata?.name)).toEqual(['blue']);
    });
  });
}
