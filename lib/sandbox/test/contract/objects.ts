import { describe, expect, it } from '@jest/globals';
import type { Target } from './client.ts';
import { configMap, deployment, pod, podSpec } from './samples.ts';
import { expectCode, uniqueName, useScratch } from './scratch.ts';

/** Creating, reading and listing, and what is refused. */
export function objectCases(target: () => Target): void {
  describe('objects', () => {
    const scratch = useScratch(target, { settled: true });

    it('answers a create with 201 and fills in uid, resourceVersion, creationTimestamp and namespace', async () => {
      const { create, namespace } = scratch();

      const made = await create('configmaps', configMap('made', { a: '1' }));

      expect(made).toMatchObject({ apiVersion: 'v1', kind: 'ConfigMap', data: { a: '1' } });
      expect(made.metadata).toMatchObject({
        name: 'made',
        namespace,
        uid: expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/),
        resourceVersion: expect.stringMatching(/^[1-9]\d*$/),
        creationTimestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
      });
    });

    it('ignores uid, creationTimestamp and generation that a create sends', async () => {
      const { create } = scratch();
      const sent = { uid: 'mine', creationTimestamp: '2001-01-01T00:00:00Z', generation: 7, selfLink: '/x' };

      const made = await create('deployments', deployment('own-fields', {}, sent));

      expect(made.metadata?.uid).not.toBe('mine');
      expect(made.metadata?.creationTimestamp).not.toBe('2001-01-01T00:00:00Z');
      expect(made.metadata?.generation).toBe(1);
      expect(made.metadata).not.toHaveProperty('selfLink');
    });

    it('refuses a create that names a resourceVersion', async () => {
      const { call, path } = scratch();

      const reply = await call('POST', path('configmaps'), { body: configMap('rv', {}, { resourceVersion: '1' }) });

      expect(reply.code).toBeGreaterThanOrEqual(400);
      expect(reply.body.message).toBe('resourceVersion should not be set on objects to be created');
    });

    it('refuses a second object of the same name with AlreadyExists', async () => {
      const { call, create, path } = scratch();
      await create('configmaps', configMap('twice'));

      const reply = await call('POST', path('configmaps'), { body: configMap('twice') });

      expect(reply.code).toBe(409);
      expect(reply.body).toMatchObject({
        kind: 'Status',
        apiVersion: 'v1',
        status: 'Failure',
        message: 'configmaps "twice" already exists',
        reason: 'AlreadyExists',
        details: { name: 'twice', kind: 'configmaps' },
        code: 409,
      });
    });

    it('answers a read of something absent with NotFound', async () => {
      const { call, path } = scratch();

      const core = await call('GET', path('configmaps', 'absent'));
      const grouped = await call('GET', path('deployments', 'absent'));

      expect(core.code).toBe(404);
      expect(core.body).toMatchObject({
        message: 'configmaps "absent" not found',
        reason: 'NotFound',
        details: { name: 'absent', kind: 'configmaps' },
      });
      expect(grouped.body).toMatchObject({
        message: 'deployments.apps "absent" not found',
        details: { name: 'absent', group: 'apps', kind: 'deployments' },
      });
    });

    it('answers a kind or a group that does not exist with a plain 404', async () => {
      const { call, namespace } = scratch();

      const kind = await call('GET', `/api/v1/namespaces/${namespace}/nothings`);
      const group = await call('GET', '/apis/nothing.example.com/v1/nothings');

      expect(kind.code).toBe(404);
      expect(kind.body).toMatchObject({ message: 'the server could not find the requested resource', details: {} });
      expect(group.code).toBe(404);
      expect(group.text).toBe('404 page not found\n');
    });

    it('appends five characters to generateName', async () => {
      const { call, path } = scratch();
      const body = { metadata: { generateName: 'some-' } };

      const replies = await Promise.all([1, 2, 3].map(() => call('POST', path('configmaps'), { body })));

      const names = replies.map((reply) => expectCode(201, reply).metadata?.name ?? '');
      expect(new Set(names).size).toBe(3);
      for (const name of names) {
        expect(name).toMatch(/^some-[bcdfghjklmnpqrstvwxz2456789]{5}$/);
      }
    });

    it('refuses a create without a name', async () => {
      const { call, path } = scratch();

      const reply = await call('POST', path('configmaps'), { body: { metadata: {} } });

      expect(reply.code).toBe(422);
      expect(reply.body).toMatchObject({
        reason: 'Invalid',
        message: 'ConfigMap "" is invalid: metadata.name: Required value: name or generateName is required',
        details: {
          kind: 'ConfigMap',
          causes: [
            {
              reason: 'FieldValueRequired',
              message: 'Required value: name or generateName is required',
              field: 'metadata.name',
            },
          ],
        },
      });
    });

    it('refuses a name that is no DNS subdomain', async () => {
      const { call, path } = scratch();

      const reply = await call('POST', path('configmaps'), { body: configMap('Not_A_Name') });

      expect(reply.code).toBe(422);
      expect(reply.body.details?.causes).toEqual([
        {
          reason: 'FieldValueInvalid',
          field: 'metadata.name',
          message: expect.stringContaining(
            'Invalid value: "Not_A_Name": a lowercase RFC 1123 subdomain must consist of',
          ),
        },
      ]);
    });

    it('refuses a body of another namespace or kind than the path', async () => {
      const { call, path } = scratch();
      const elsewhere = { ...configMap('else'), metadata: { name: 'else', namespace: 'default' } };

      const namespace = await call('POST', path('configmaps'), { body: elsewhere });
      const kind = await call('POST', path('configmaps'), { body: { ...configMap('else'), kind: 'Secret' } });

      expect(namespace.code).toBe(400);
      expect(namespace.body.message).toBe(
        `the namespace of the provided object does not match the namespace sent on the request`,
      );
      expect(kind.code).toBe(400);
      expect(kind.body.message).toBe(
        'Secret in version "v1" cannot be handled as a ConfigMap: converting (v1.Secret) to (core.ConfigMap): unknown conversion',
      );
    });

    it('refuses a create in a namespace that does not exist', async () => {
      const { call } = scratch();
      const missing = uniqueName('missing');

      const reply = await call('POST', `/api/v1/namespaces/${missing}/configmaps`, { body: configMap('x') });

      expect(reply.code).toBe(404);
      expect(reply.body.message).toBe(`namespaces "${missing}" not found`);
    });

    it('refuses what is no JSON', async () => {
      const { call, path } = scratch();

      const reply = await call('POST', path('configmaps'), { body: '{"metadata":' });

      expect(reply.code).toBe(400);
      expect(reply.body).toMatchObject({ kind: 'Status', reason: 'BadRequest' });
    });

    it('takes YAML', async () => {
      const { call, path } = scratch();
      const body = 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: from-yaml\ndata:\n  a: "1"\n';

      const reply = await call('POST', path('configmaps'), { body, headers: { 'content-type': 'application/yaml' } });

      expect(expectCode(201, reply)).toMatchObject({ metadata: { name: 'from-yaml' }, data: { a: '1' } });
    });

    it('refuses a media type that it does not know', async () => {
      const { call, path } = scratch();

      const sent = await call('POST', path('configmaps'), { body: 'x', headers: { 'content-type': 'text/plain' } });
      const wanted = await call('GET', path('configmaps'), { headers: { accept: 'text/plain' } });

      expect(sent.code).toBe(415);
      expect(sent.body.reason).toBe('UnsupportedMediaType');
      expect(wanted.code).toBe(406);
      expect(wanted.body.reason).toBe('NotAcceptable');
    });

    it('refuses a method that a path does not have', async () => {
      const { call, path } = scratch();

      const put = await call('PUT', path('configmaps'), { body: configMap('x') });

      expect(put.code).toBe(405);
      expect(put.body).toMatchObject({
        reason: 'MethodNotAllowed',
        message: 'the server does not allow this method on the requested resource',
      });
    });

    it('lists with a resourceVersion of the list and without kinds on the items', async () => {
      const { call, create, path } = scratch();
      await create('configmaps', configMap('listed'));

      const list = expectCode(200, await call('GET', path('configmaps')));

      expect(list).toMatchObject({ kind: 'ConfigMapList', apiVersion: 'v1' });
      expect(list.metadata?.resourceVersion).toMatch(/^\d+$/);
      const item = list.items?.find(({ metadata }) => metadata?.name === 'listed');
      expect(item).toBeDefined();
      expect(item).not.toHaveProperty('kind');
      expect(item).not.toHaveProperty('apiVersion');
    });

    it('lists all namespaces in order of namespace and name', async () => {
      const { call, create, namespace } = scratch();
      await create('configmaps', configMap('b-order', {}, { labels: { order: namespace } }));
      await create('configmaps', configMap('a-order', {}, { labels: { order: namespace } }));

      const list = await call('GET', '/api/v1/configmaps', { query: { labelSelector: `order=${namespace}` } });

      expect(list.body.items?.map(({ metadata }) => metadata?.name)).toEqual(['a-order', 'b-order']);
    });

    it.each([
      ['1024Mi', '1Gi'],
      ['1.5Gi', '1536Mi'],
      ['0.1Ki', '102400m'],
      ['1000000', '1M'],
      ['1073741824', '1073741824'],
      ['100E1', '1e3'],
      ['1200e0', '1200e0'],
      ['5e-1', '500e-3'],
      ['0.1n', '1n'],
      ['100E', '100E'],
    ])('stores the quantity %s as %s', async (sent, stored) => {
      const { call, path } = scratch();
      const volume = { name: 'scratch', emptyDir: { sizeLimit: sent } };
      const body = pod('amounts', {}, { ...podSpec(), volumes: [volume] });

      const reply = await call('POST', path('pods'), { query: { dryRun: 'All' }, body });

      const { volumes } = expectCode(201, reply).spec as { volumes: object[] };
      expect(volumes).toContainEqual({ name: 'scratch', emptyDir: { sizeLimit: stored } });
    });
  });
}
