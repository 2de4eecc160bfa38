import { describe, expect, it } from '@jest/globals';
import type { Target } from './client.ts';
import { configMap } from './samples.ts';
import { expectCode, uniqueName, useScratch } from './scratch.ts';
import { until, untilGone } from './watching.ts';

const namespaces = '/api/v1/namespaces';

/** Namespaces: what comes with them and how they go. */
export function namespaceCases(target: () => Target): void {
  describe('namespaces', () => {
    const scratch = useScratch(target);

    async function createNamespace(): Promise<string> {
      const name = uniqueName('ns');
      expectCode(201, await scratch().call('POST', namespaces, { body: { metadata: { name } } }));
      return name;
    }

    it('start Active, with their name as a label and the kubernetes finalizer', async () => {
      const { call } = scratch();
      const name = await createNamespace();

      const { body } = await call('GET', `${namespaces}/${name}`);

      expect(body.metadata?.labels).toEqual({ 'kubernetes.io/metadata.name': name });
      expect(body.spec).toEqual({ finalizers: ['kubernetes'] });
      expect(body.status).toEqual({ phase: 'Active' });
      await call('DELETE', `${namespaces}/${name}`);
    });

    it('get a default ServiceAccount and the cluster CA', async () => {
      const { client } = scratch();
      const name = await createNamespace();

      const account = await until(client, `${namespaces}/${name}/serviceaccounts`, 'default', () => true);
      const ca = await until(client, `${namespaces}/${name}/configmaps`, 'kube-root-ca.crt', () => true);

      expect(account.metadata?.namespace).toBe(name);
      expect(ca.data?.['ca.crt']).toContain('-----BEGIN CERTIFICATE-----');
      await client.call('DELETE', `${namespaces}/${name}`);
    });

    it('take all their objects with them', async () => {
      const { call, client } = scratch();
      const name = await createNamespace();
      await call('POST', `${namespaces}/${name}/configmaps`, { body: configMap('inside') });

      const deleted = await call('DELETE', `${namespaces}/${name}`);
      await untilGone(client, namespaces, name);

      expect(deleted.code).toBe(200);
      expect(deleted.body).toMatchObject({ kind: 'Namespace', status: { phase: 'Terminating' } });
      expect((await call('GET', `${namespaces}/${name}/configmaps/inside`)).code).toBe(404);
    });

    it('wait for finalizers of their objects and refuse new ones meanwhile', async () => {
      const { call, client, patch } = scratch();
      const name = await createNamespace();
      const held = `${namespaces}/${name}/configmaps/held`;
      await call('POST', `${namespaces}/${name}/configmaps`, {
        body: configMap('held', {}, { finalizers: ['example.com/hold'] }),
      });
      await call('DELETE', `${namespaces}/${name}`);
      await until(client, `${namespaces}/${name}/configmaps`, 'held', ({ metadata }) => {
        return metadata?.deletionTimestamp !== undefined;
      });

      const refused = await call('POST', `${namespaces}/${name}/configmaps`, { body: configMap('late') });
      const waiting = await call('GET', `${namespaces}/${name}`);
      await patch('merge', held, { metadata: { finalizers: null } });
      await untilGone(client, namespaces, name);

      expect(refused.code).toBe(403);
      expect(refused.body).toMatchObject({
        reason: 'Forbidden',
        message: `configmaps "late" is forbidden: unable to create new content in namespace ${name} because it is being terminated`,
        details: { causes: [{ reason: 'NamespaceTerminating', field: 'metadata.namespace' }] },
      });
      expect(waiting.body.status).toMatchObject({ phase: 'Terminating' });
    });

    it('cannot be deleted where the cluster itself lives', async () => {
      const { call } = scratch();

      const reply = await call('DELETE', `${namespaces}/kube-system`);

      expect(reply.code).toBe(403);
      expect(reply.body.message).toBe('namespaces "kube-system" is forbidden: this namespace may not be deleted');
    });

    it('must be named by a DNS label', async () => {
      const { call } = scratch();

      const reply = await call('POST', namespaces, { body: { metadata: { name: 'with.dots' } } });

      expect(reply.code).toBe(422);
      expect(reply.body.details?.causes?.[0]).toMatchObject({ reason: 'FieldValueInvalid', field: 'metadata.name' });
    });

    it('have no deletecollection', async () => {
      const { call } = scratch();

      const reply = await call('DELETE', namespaces, { query: { labelSelector: 'none=at-all' } });

      expect(reply.code).toBe(405);
    });
  });
}
