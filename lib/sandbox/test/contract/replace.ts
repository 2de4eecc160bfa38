import { describe, expect, it } from '@jest/globals';
import type { Target } from './client.ts';
import { configMap, deployment } from './samples.ts';
import { expectCode, uniqueName, useScratch } from './scratch.ts';

/** Replacing: resource versions, generations and conflicts. */
export function replaceCases(target: () => Target): void {
  describe('replacing', () => {
    const scratch = useScratch(target);

    it('replaces an object whose resourceVersion is current, and moves the version', async () => {
      const { call, create, path } = scratch();
      const made = await create('configmaps', configMap('replaced', { a: '1' }));

      const reply = await call('PUT', path('configmaps', 'replaced'), { body: { ...made, data: { a: '2' } } });

      const replaced = expectCode(200, reply);
      expect(replaced.data).toEqual({ a: '2' });
      expect(replaced.metadata?.uid).toBe(made.metadata?.uid);
      expect(Number(replaced.metadata?.resourceVersion)).toBeGreaterThan(Number(made.metadata?.resourceVersion));
    });

    it('keeps the resourceVersion when a replace changes nothing', async () => {
      const { call, create, path } = scratch();
      const made = await create('configmaps', configMap('unchanged', { a: '1' }));

      const reply = await call('PUT', path('configmaps', 'unchanged'), { body: made });

      expect(expectCode(200, reply).metadata?.resourceVersion).toBe(made.metadata?.resourceVersion);
    });

    it('refuses a replace with an outdated resourceVersion', async () => {
      const { call, create, path } = scratch();
      const made = await create('configmaps', configMap('stale', { a: '1' }));
      await call('PUT', path('configmaps', 'stale'), { body: { ...made, data: { a: '2' } } });

      const reply = await call('PUT', path('configmaps', 'stale'), { body: { ...made, data: { a: '3' } } });

      expect(reply.code).toBe(409);
      expect(reply.body).toMatchObject({
        reason: 'Conflict',
        message:
          'Operation cannot be fulfilled on configmaps "stale": the object has been modified; please apply your changes to the latest version and try again',
        details: { name: 'stale', kind: 'configmaps' },
      });
    });

    it('replaces without a resourceVersion whatever is there', async () => {
      const { call, create, path } = scratch();
      await create('configmaps', configMap('unconditional', { a: '1' }));

      const reply = await call('PUT', path('configmaps', 'unconditional'), {
        body: configMap('unconditional', { b: '1' }),
      });

      expect(expectCode(200, reply).data).toEqual({ b: '1' });
    });

    it('refuses a replace that has another uid', async () => {
      const { call, create, path } = scratch();
      const made = await create('configmaps', configMap('other-uid'));
      const uid = '00000000-0000-4000-8000-000000000000';

      const reply = await call('PUT', path('configmaps', 'other-uid'), {
        body: { ...made, metadata: { ...made.metadata, uid } },
      });

      expect(reply.code).toBe(409);
      expect(reply.body.message).toContain('Operation cannot be fulfilled on configmaps "other-uid": ');
      expect(reply.body.message).toContain(
        `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${made.metadata?.uid ?? ''}`,
      );
    });

    it('refuses a replace under another name', async () => {
      const { call, create, path } = scratch();
      await create('configmaps', configMap('one-name'));

      const reply = await call('PUT', path('configmaps', 'one-name'), { body: configMap('another-name') });

      expect(reply.code).toBe(400);
      expect(reply.body.message).toBe(
        'the name of the object (another-name) does not match the name on the URL (one-name)',
      );
    });

    it('does not create by replacing a ConfigMap, but does so for a Lease', async () => {
      const { call, path } = scratch();
      const lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name: 'by-put' }, spec: {} };

      const absent = await call('PUT', path('configmaps', 'by-put'), { body: configMap('by-put') });
      const made = await call('PUT', path('leases', 'by-put'), { body: lease });

      expect(absent.code).toBe(404);
      expect(made.code).toBe(201);
    });

    it('raises the generation with the spec and not with metadata', async () => {
      const { create, patch, path } = scratch();
      const made = await create('deployments', deployment('generations'));

      const labelled = await merge({ metadata: { labels: { a: 'b' } } });
      const scaled = await merge({ spec: { minReadySeconds: 5 } });
      const same = await merge({ spec: { minReadySeconds: 5 } });

      expect([made, labelled, scaled, same].map(({ metadata }) => metadata?.generation)).toEqual([1, 1, 2, 2]);
      async function merge(body: object) {
        return expectCode(200, await patch('merge', path('deployments', 'generations'), body));
      }
    });

    it('counts the generations of policy bindings, and wants to know which one an update starts from', async () => {
      const { call } = scratch();
      const name = uniqueName('binding');
      const collection = '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings';
      const binding = {
        apiVersion: 'admissionregistration.k8s.io/v1',
        kind: 'ValidatingAdmissionPolicyBinding',
        metadata: { name },
        spec: { policyName: `${name}-is-absent`, validationActions: ['Audit'] },
      };
      const made = expectCode(201, await call('POST', collection, { body: binding }));

      const blind = await call('PUT', `${collection}/${name}`, { body: binding });
      const changed = await call('PUT', `${collection}/${name}`, {
        body: { ...made, spec: { ...binding.spec, validationActions: ['Warn'] } },
      });
      expectCode(200, await call('DELETE', `${collection}/${name}`));

      expect(blind.code).toBe(422);
      expect([made, expectCode(200, changed)].map(({ metadata }) => metadata?.generation)).toEqual([1, 2]);
    });

    it('gives a ConfigMap no generation', async () => {
      const { create } = scratch();

      const made = await create('configmaps', configMap('no-generation'));

      expect(made.metadata).not.toHaveProperty('generation');
    });

    it('keeps an immutable ConfigMap as it is', async () => {
      const { call, create, path } = scratch();
      const made = await create('configmaps', { ...configMap('frozen', { a: '1' }), immutable: true });

      const reply = await call('PUT', path('configmaps', 'frozen'), { body: { ...made, data: { a: '2' } } });

      expect(reply.code).toBe(422);
      expect(reply.body.details?.causes).toEqual([
        {
          reason: 'FieldValueForbidden',
          message: 'Forbidden: field is immutable when `immutable` is set',
          field: 'data',
        },
      ]);
    });
  });
}
