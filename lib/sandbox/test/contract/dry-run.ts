import { describe, expect, it } from '@jest/globals';
import type { Target } from './client.ts';
import { configMap, deployment } from './samples.ts';
import { expectCode, useScratch } from './scratch.ts';

/** `dryRun=All` answers like the real thing and leaves no trace. */
export function dryRunCases(target: () => Target): void {
  describe('dry run', () => {
    const scratch = useScratch(target, { settled: true });
    const dryRun = 'All';

    it('answers a create with the object that would be, and stores nothing', async () => {
      const { call, path } = scratch();

      const reply = await call('POST', path('deployments'), { query: { dryRun }, body: deployment('unmade') });

      const body = expectCode(201, reply);
      expect(body.metadata?.uid).toEqual(expect.any(String));
      expect(body.metadata).not.toHaveProperty('resourceVersion');
      expect(body.spec).toMatchObject({ progressDeadlineSeconds: 600 });
      expect((await call('GET', path('deployments', 'unmade'))).code).toBe(404);
    });

    it('refuses what the real thing would refuse', async () => {
      const { call, create, path } = scratch();
      await create('configmaps', configMap('there'));

      const exists = await call('POST', path('configmaps'), { query: { dryRun }, body: configMap('there') });
      const invalid = await call('POST', path('configmaps'), { query: { dryRun }, body: configMap('Bad_Name') });

      expect(exists.code).toBe(409);
      expect(invalid.code).toBe(422);
    });

    it('replaces and patches without storing', async () => {
      const { call, create, get, patch, path } = scratch();
      const made = await create('configmaps', configMap('kept', { a: '1' }));

      const replaced = await call('PUT', path('configmaps', 'kept'), {
        query: { dryRun },
        body: { ...made, data: { a: '2' } },
      });
      const patched = await patch('merge', path('configmaps', 'kept'), { data: { a: '3' } }, { dryRun });

      expect(expectCode(200, replaced).data).toEqual({ a: '2' });
      expect(expectCode(200, patched).data).toEqual({ a: '3' });
      expect(patched.body.metadata?.resourceVersion).toBe(made.metadata?.resourceVersion);
      expect(await get('configmaps', 'kept')).toEqual(made);
    });

    it('applies without storing', async () => {
      const { call, patch, path } = scratch();

      const reply = await patch('apply', path('configmaps', 'applied'), configMap('applied', { a: '1' }), {
        dryRun,
        fieldManager: 'dry',
      });

      expect(reply.code).toBe(201);
      expect((await call('GET', path('configmaps', 'applied'))).code).toBe(404);
    });

    it('deletes without deleting', async () => {
      const { call, create, get, path } = scratch();
      const made = await create('configmaps', configMap('alive'));

      const reply = await call('DELETE', path('configmaps', 'alive'), { query: { dryRun } });
      const all = await call('DELETE', path('configmaps'), { query: { dryRun } });

      expect(reply.code).toBe(200);
      expect(all.code).toBe(200);
      expect(await get('configmaps', 'alive')).toEqual(made);
    });

    it('refuses another value than All', async () => {
      const { call, path } = scratch();

      const reply = await call('POST', path('configmaps'), { query: { dryRun: 'Some' }, body: configMap('x') });

      expect(reply.code).toBe(422);
      expect(reply.body.details?.causes?.[0]).toMatchObject({
        reason: 'FieldValueNotSupported',
        message: 'Unsupported value: ["Some"]: supported values: "All"',
        field: 'dryRun',
      });
    });
  });
}
