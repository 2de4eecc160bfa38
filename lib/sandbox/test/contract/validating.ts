import { describe, expect, it } from '@jest/globals';
import type { Target } from './client.ts';
import { useHooks } from './hooks.ts';
import { expectCode, useScratch } from './scratch.ts';

/** Validating webhooks: denials, warnings, dry runs; and what happens when one cannot be asked. */
export function validatingCases(target: () => Target): void {
  describe('validating webhooks', () => {
    const scratch = useScratch(target);
    const hooks = useHooks(scratch);

    it('deny with their message and code', async () => {
      const { call, path } = scratch();
      const { register, seen } = hooks();
      await register('Validating', 'a', {
        strict: { answer: () => ({ allowed: false, status: { code: 409, reason: 'Conflict', message: 'not today' } }) },
      });

      const reply = await call('POST', path('configmaps'), { body: seen('denied') });

      expect(reply.code).toBe(409);
      expect(reply.body).toMatchObject({
        status: 'Failure',
        reason: 'Conflict',
        message: 'admission webhook "strict.example.com" denied the request: not today',
      });
      expect((await call('GET', path('configmaps', 'denied'))).code).toBe(404);
    });

    it('deny with 400 when they give no code', async () => {
      const { call, path } = scratch();
      const { register, seen } = hooks();
      await register('Validating', 'a', { strict: { answer: () => ({ allowed: false, status: { message: 'no' } }) } });

      const reply = await call('POST', path('configmaps'), { body: seen('denied') });

      expect(reply.code).toBe(400);
      expect(reply.body.message).toBe('admission webhook "strict.example.com" denied the request: no');
    });

    it('deny without explanation', async () => {
      const { call, path } = scratch();
      const { register, seen } = hooks();
      await register('Validating', 'a', { strict: { answer: () => ({ allowed: false }) } });

      const reply = await call('POST', path('configmaps'), { body: seen('denied') });

      expect(reply.code).toBe(400);
      expect(reply.body.message).toBe('admission webhook "strict.example.com" denied the request without explanation');
    });

    it('deny if any of them does, and all are asked', async () => {
      const { call, path } = scratch();
      const { called, register, seen } = hooks();
      await register('Validating', 'a', { lenient: {}, strict: { answer: () => ({ allowed: false }) }, other: {} });

      const reply = await call('POST', path('configmaps'), { body: seen('denied') });

      expect(reply.code).toBe(400);
      expect([...called].sort()).toEqual(['lenient', 'other', 'strict']);
    });

    it('warn through headers, allowed or not', async () => {
      const { call, path } = scratch();
      const { register, seen } = hooks();
      await register('Validating', 'a', { warns: { answer: () => ({ warnings: ['mind the "gap"'] }) } });

      const reply = await call('POST', path('configmaps'), { body: seen('warned') });

      expect(reply.code).toBe(201);
      expect(reply.warnings).toEqual(['mind the "gap"']);
    });

    it('must not patch', async () => {
      const { call, path } = scratch();
      const { register, seen } = hooks();
      await register('Validating', 'a', {
        patches: { answer: () => ({ patch: [{ op: 'add', path: '/data/x', value: '1' }] }) },
      });

      const reply = await call('POST', path('configmaps'), { body: seen('patched', { a: '1' }) });

      expect(reply.code).toBe(500);
      expect(reply.body.message).toContain('validating webhook may not return response.patch');
    });

    it('are notified of a dry run', async () => {
      const { call, path } = scratch();
      const { register, requests, seen } = hooks();
      await register('Validating', 'a', { first: {} });

      await call('POST', path('configmaps'), { query: { dryRun: 'All' }, body: seen('dry') });

      expect(requests[0]?.dryRun).toBe(true);
    });

    it('refuse a dry run when they have side effects', async () => {
      const { call, path } = scratch();
      const { called, register, seen } = hooks();
      const collection = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations';
      await register('Validating', 'a', { acts: {} });
      const some = await call('POST', collection, {
        body: {
          metadata: { name: 'has-side-effects' },
          webhooks: [
            {
              name: 'x.example.com',
              admissionReviewVersions: ['v1'],
              sideEffects: 'Some',
              clientConfig: { url: 'https://127.0.0.1:1/x' },
            },
          ],
        },
      });
      await register('Validating', 'b', { drily: { fields: { sideEffects: 'NoneOnDryRun' } } });

      const reply = await call('POST', path('configmaps'), { query: { dryRun: 'All' }, body: seen('dry') });

      expect(some.code).toBe(422);
      expect(some.body.details?.causes?.[0]).toMatchObject({
        field: 'webhooks[0].sideEffects',
        reason: 'FieldValueNotSupported',
      });
      expect(reply.code).toBe(201);
      expect([...called].sort()).toEqual(['acts', 'drily']);
    });

    it('get the timeout in the query', async () => {
      const { call, path } = scratch();
      const { register, seen } = hooks();
      const timeouts: (string | null)[] = [];
      await register('Validating', 'a', {
        first: {
          fields: { timeoutSeconds: 7 },
          answer: (_request, search) => {
            timeouts.push(search.get('timeout'));
            return {};
          },
        },
      });

      await call('POST', path('configmaps'), { body: seen('timed') });

      expect(timeouts).toEqual(['7s']);
    });

    it('fail the request when they do not answer in time, if their policy is Fail', async () => {
      const { call, path } = scratch();
      const { register, seen } = hooks();
      await register('Validating', 'a', {
        slow: { fields: { timeoutSeconds: 1, failurePolicy: 'Fail' }, answer: () => new Promise(() => undefined) },
      });

      const reply = await call('POST', path('configmaps'), { body: seen('late') });

      expect(reply.code).toBe(500);
      expect(reply.body.reason).toBe('InternalError');
      expect(reply.body.message).toMatch(
        /^Internal error occurred: failed calling webhook "slow\.example\.com": failed to call webhook: Post "https:.*\?timeout=1s": context deadline exceeded$/,
      );
    });

    it('are passed over when they do not answer in time, if their policy is Ignore', async () => {
      const { call, path } = scratch();
      const { register, seen } = hooks();
      await register('Validating', 'a', {
        slow: { fields: { timeoutSeconds: 1, failurePolicy: 'Ignore' }, answer: () => new Promise(() => undefined) },
      });

      expectCode(201, await call('POST', path('configmaps'), { body: seen('ignored') }));
    });

    it('are found by the name of their Service', async () => {
      const { call, create, namespace, path } = scratch();
      const { called, label, register, seen, server } = hooks();
      await create('services', {
        metadata: { name: 'hooks' },
        spec: { type: 'ExternalName', externalName: 'localhost' },
      });
      const service = { name: 'hooks', namespace, path: `/${label}-a/named`, port: Number(new URL(server.url).port) };
      const clientConfig = { service, caBundle: server.caBundle };
      await register('Validating', 'a', { named: { fields: { clientConfig } } });

      expectCode(201, await call('POST', path('configmaps'), { body: seen('by-service') }));

      expect(called).toEqual(['named']);
    });

    it('fail the request when nobody listens', async () => {
      const { call, path } = scratch();
      const { register, seen } = hooks();
      await register('Validating', 'a', { dead: { fields: { clientConfig: { url: 'https://127.0.0.1:1/dead' } } } });

      const reply = await call('POST', path('configmaps'), { body: seen('unheard') });

      expect(reply.code).toBe(500);
      expect(reply.body.message).toMatch(
        /^Internal error occurred: failed calling webhook "dead\.example\.com": failed to call webhook: Post "https:\/\/127\.0\.0\.1:1\/dead\?timeout=5s": .*connection refused$/,
      );
    });

    it('fail the request when their certificate is not trusted', async () => {
      const { call, path } = scratch();
      const { register, seen, server } = hooks();
      await register('Validating', 'a', { foreign: { fields: { clientConfig: { url: `${server.url}/x` } } } });

      const reply = await call('POST', path('configmaps'), { body: seen('untrusted') });

      expect(reply.code).toBe(500);
      expect(reply.body.message).toContain('failed calling webhook "foreign.example.com": failed to call webhook: ');
    });

    it('fail the request when they answer for another uid', async () => {
      const { call, path } = scratch();
      const { register, seen } = hooks();
      await register('Validating', 'a', { confused: { answer: () => ({ uid: 'other' }) } });

      const reply = await call('POST', path('configmaps'), { body: seen('confused') });

      expect(reply.code).toBe(500);
      expect(reply.body.message).toMatch(/expected response\.uid="[0-9a-f-]{36}", got "other"$/);
    });
  });
}
