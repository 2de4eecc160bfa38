import { describe, expect, it } from '@jest/globals';
import type { Body, Target } from './client.ts';
import { configMap } from './samples.ts';
import { useScratch } from './scratch.ts';

interface Table {
  readonly kind: string;
  readonly columnDefinitions: readonly { readonly name: string; readonly priority: number }[];
  readonly rows: readonly { readonly cells: readonly unknown[]; readonly object?: { readonly kind?: string } }[];
}

/** How clients find out what is there, and how kubectl prints it. */
export function discoveryCases(target: () => Target): void {
  describe('discovery', () => {
    const scratch = useScratch(target);

    it('reports its version', async () => {
      const { body } = await scratch().call('GET', '/version');

      expect(body).toMatchObject({ major: '1', gitVersion: expect.stringMatching(/^v1\.\d+\.\d+/) });
    });

    it.each(['/healthz', '/livez', '/readyz'])('is well at %s', async (path) => {
      const reply = await scratch().call('GET', path);

      expect([reply.code, reply.text]).toEqual([200, 'ok']);
    });

    it('lists groups and the resources of each', async () => {
      const { call } = scratch();

      const core = await call('GET', '/api');
      const groups = await call('GET', '/apis');
      const apps = await call('GET', '/apis/apps/v1');

      expect(core.body).toMatchObject({ kind: 'APIVersions', versions: ['v1'] });
      expect(groups.body).toMatchObject({
        kind: 'APIGroupList',
        groups: expect.arrayContaining([
          expect.objectContaining({
            name: 'apps',
            preferredVersion: { groupVersion: 'apps/v1', version: 'v1' },
            versions: [{ groupVersion: 'apps/v1', version: 'v1' }],
          }),
        ]),
      });
      expect(apps.body).toMatchObject({
        kind: 'APIResourceList',
        groupVersion: 'apps/v1',
        resources: expect.arrayContaining([
          expect.objectContaining({
            name: 'deployments',
            singularName: 'deployment',
            namespaced: true,
            kind: 'Deployment',
            shortNames: ['deploy'],
            categories: ['all'],
          }),
          expect.objectContaining({
            name: 'deployments/scale',
            group: 'autoscaling',
            version: 'v1',
            kind: 'Scale',
            verbs: ['get', 'patch', 'update'],
          }),
        ]),
      });
    });

    it('returns everything at once to a client that requests it', async () => {
      const { call } = scratch();
      const accept = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json';

      const reply = await call('GET', '/apis', { headers: { accept } });

      expect(reply.headers['content-type']).toBe(
        'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList',
      );
      expect(reply.body).toMatchObject({ kind: 'APIGroupDiscoveryList', apiVersion: 'apidiscovery.k8s.io/v2' });
      const apps = reply.body.items?.find(({ metadata }) => metadata?.name === 'apps');
      expect(apps).toMatchObject({
        versions: [
          {
            version: 'v1',
            resources: expect.arrayContaining([
              expect.objectContaining({
                resource: 'deployments',
                responseKind: { group: '', version: '', kind: 'Deployment' },
                scope: 'Namespaced',
                singularResource: 'deployment',
              }),
            ]),
          },
        ],
      });
    });

    it('has OpenAPI v3 by group and version', async () => {
      const { call } = scratch();

      const index = await call('GET', '/openapi/v3');
      const { paths } = index.body as { paths?: Record<string, { serverRelativeURL: string }> };
      const apps = await call('GET', paths?.['apis/apps/v1']?.serverRelativeURL ?? '');

      const { components } = apps.body as { components?: { schemas: Record<string, object> } };
      expect(components?.schemas['io.k8s.api.apps.v1.Deployment']).toMatchObject({
        'x-kubernetes-group-version-kind': [{ group: 'apps', kind: 'Deployment', version: 'v1' }],
      });
    });

    it('prints a list as a Table', async () => {
      const { call, create, path } = scratch();
      await create('configmaps', configMap('printed', { a: '1', b: '2' }));
      const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json';

      const { body } = await call('GET', path('configmaps'), {
        headers: { accept },
        query: { fieldSelector: 'metadata.name=printed' },
      });

      const table = body as Body & Table;
      expect(table.kind).toBe('Table');
      expect(table.columnDefinitions.map(({ name }) => name)).toEqual(['Name', 'Data', 'Age']);
      expect(table.rows).toHaveLength(1);
      expect(table.rows[0]?.cells).toEqual(['printed', 2, expect.stringMatching(/^\d+s$/)]);
      expect(table.rows[0]?.object?.kind).toBe('PartialObjectMetadata');
    });

    it('gives metadata alone to a client that asks so', async () => {
      const { call, path } = scratch();
      const accept = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1';

      const { body } = await call('GET', path('configmaps'), {
        headers: { accept },
        query: { fieldSelector: 'metadata.name=printed' },
      });

      expect(body).toMatchObject({ kind: 'PartialObjectMetadataList', apiVersion: 'meta.k8s.io/v1' });
      expect(body.items?.[0]).toMatchObject({ kind: 'PartialObjectMetadata', metadata: { name: 'printed' } });
      expect(body.items?.[0]).not.toHaveProperty('data');
    });
  });
}
