import { describe, expect, it } from '@jest/globals';
import type { Reply, Target } from './client.ts';
import { useHooks } from './hooks.ts';
import { configMap } from './samples.ts';
import { expectCode, useScratch } from './scratch.ts';

/** Who is calling: tokens, impersonation, and where the name arrives. */
export function identityCases(target: () => Target): void {
  describe('identity', () => {
    const scratch = useScratch(target);
    const hooks = useHooks(scratch);

    function whoAmI(headers: Readonly<Record<string, string | string[]>> = {}): Promise<Reply> {
      return scratch().call('POST', '/apis/authentication.k8s.io/v1/selfsubjectreviews', { headers, body: {} });
    }

    it('refuses an unknown token', async () => {
      const reply = await whoAmI({ authorization: 'Bearer nobody-has-this' });

      expect(reply.code).toBe(401);
      expect(reply.body).toMatchObject({ kind: 'Status', reason: 'Unauthorized', message: 'Unauthorized' });
    });

    it('calls a client without a token anonymous', async () => {
      const { call, namespace, path } = scratch();

      const reply = await call('GET', path('configmaps', 'x'), { headers: { authorization: '' } });

      expect(reply.code).toBe(403);
      expect(reply.body.message).toBe(
        `configmaps "x" is forbidden: User "system:anonymous" cannot get resource "configmaps" in API group "" in the namespace "${namespace}"`,
      );
    });

    it('makes the admin a member of system:masters', async () => {
      const reply = await whoAmI();

      expect(expectCode(201, reply).status).toMatchObject({
        userInfo: { groups: expect.arrayContaining(['system:masters', 'system:authenticated']) },
      });
    });

    it('lets the admin act as a user with groups and extra values', async () => {
      const reply = await whoAmI({
        'impersonate-user': 'jane',
        'impersonate-group': ['developers', 'testers'],
        'impersonate-extra-scopes': 'view',
        'impersonate-uid': 'u-1',
      });

      expect(expectCode(201, reply).status).toEqual({
        userInfo: {
          username: 'jane',
          uid: 'u-1',
          groups: ['developers', 'testers', 'system:authenticated'],
          extra: { scopes: ['view'] },
        },
      });
    });

    it('gives an impersonated ServiceAccount its groups', async () => {
      const { namespace } = scratch();

      const reply = await whoAmI({ 'impersonate-user': `system:serviceaccount:${namespace}:default` });

      expect(expectCode(201, reply).status).toMatchObject({
        userInfo: {
          groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'],
        },
      });
    });

    it('takes no group without a user', async () => {
      const reply = await whoAmI({ 'impersonate-group': 'developers' });

      expect(reply.code).toBe(400);
      expect(reply.body.message).toContain('without impersonating a user');
    });

    it('lets nobody else impersonate without the right', async () => {
      const { call, create, path } = scratch();
      await create('serviceaccounts', { metadata: { name: 'robot' } });
      const issued = await call('POST', path('serviceaccounts', 'robot', 'token'), { body: {} });
      const { token } = expectCode(201, issued).status as { token: string };

      const reply = await whoAmI({ authorization: `Bearer ${token}`, 'impersonate-user': 'jane' });

      expect(reply.code).toBe(403);
      expect(reply.body.message).toContain(
        `forbidden: User "system:serviceaccount:${scratch().namespace}:robot" cannot impersonate`,
      );
    });

    it('reaches webhooks as userInfo', async () => {
      const { call, path } = scratch();
      const { register, requests, seen } = hooks();
      await register('Validating', 'a', { first: {} });

      await call('POST', path('configmaps'), {
        query: { dryRun: 'All' },
        headers: { 'impersonate-user': 'jane', 'impersonate-group': ['system:masters'] },
        body: seen('by-jane'),
      });

      expect(requests[0]?.userInfo).toEqual({ username: 'jane', groups: ['system:masters', 'system:authenticated'] });
    });

    it('reviews tokens', async () => {
      const { call, create, namespace, path } = scratch();
      await create('serviceaccounts', { metadata: { name: 'reviewed' } });
      const issued = await call('POST', path('serviceaccounts', 'reviewed', 'token'), {
        body: { spec: { audiences: ['https://example.com'] } },
      });
      const { token } = expectCode(201, issued).status as { token: string };

      const right = await review({ token, audiences: ['https://example.com'] });
      const wrong = await review({ token, audiences: ['https://other.example.com'] });
      const junk = await review({ token: 'junk' });

      expect(right).toMatchObject({
        authenticated: true,
        user: { username: `system:serviceaccount:${namespace}:reviewed` },
        audiences: ['https://example.com'],
      });
      expect(wrong).not.toHaveProperty('authenticated');
      expect(junk).not.toHaveProperty('authenticated');
      async function review(spec: object): Promise<unknown> {
        const reply = await call('POST', '/apis/authentication.k8s.io/v1/tokenreviews', { body: { spec } });
        return expectCode(201, reply).status;
      }
    });

    it('does not end up in objects', async () => {
      const { create } = scratch();

      const made = await create('configmaps', configMap('plain', { a: '1' }), {
        headers: { 'impersonate-user': 'jane', 'impersonate-group': ['system:masters'] },
      });

      expect(JSON.stringify(made)).not.toContain('jane');
    });
  });
}
