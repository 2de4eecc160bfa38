import { beforeAll, describe, expect, it } from '@jest/globals';
import type { Call, Method, Reply, Target } from './client.ts';
import { configMap, deployment } from './samples.ts';
import { expectCode, uniqueName, useScratch } from './scratch.ts';
import { eventually } from './watching.ts';

const rbac = 'apis/rbac.authorization.k8s.io/v1';

/** RBAC: what roles allow, and the words of a refusal. */
export function accessCases(target: () => Target): void {
  describe('access', () => {
    const scratch = useScratch(target);
    const user = uniqueName('user');

    beforeAll(async () => {
      await allow('reader', [
        { apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'list', 'watch'] },
        { apiGroups: [''], resources: ['secrets'], resourceNames: ['mine'], verbs: ['get', 'update'] },
        { apiGroups: ['apps'], resources: ['deployments/scale'], verbs: ['*'] },
        { apiGroups: ['apps'], resources: ['deployments'], verbs: ['get'] },
      ]);
      const { create } = scratch();
      await create('configmaps', configMap('visible'));
      await create('secrets', { metadata: { name: 'mine' } });
      await create('deployments', deployment('shop'));
      await untilAllowed('GET', scratch().path('configmaps'));
    });

    /** Grants rules in the scratch namespace. */
    async function allow(name: string, rules: readonly object[]): Promise<void> {
      const { create } = scratch();
      await create('roles', { metadata: { name }, rules });
      await create('rolebindings', {
        metadata: { name },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name },
        subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: user }],
      });
    }

    function asUser(method: Method, path: string, call: Call = {}): Promise<Reply> {
      return scratch().call(method, path, { ...call, headers: { ...call.headers, 'impersonate-user': user } });
    }

    /** A grant takes effect a moment after it is written. */
    function untilAllowed(method: Method, path: string, call: Call = {}): Promise<Reply> {
      return eventually(
        () => asUser(method, path, call),
        ({ code }) => code !== 403,
      );
    }

    it('is what a role says', async () => {
      const { path } = scratch();

      const read = await asUser('GET', path('configmaps', 'visible'));
      const list = await asUser('GET', path('configmaps'));
      const write = await asUser('POST', path('configmaps'), { body: configMap('more') });

      expect(read.code).toBe(200);
      expect(list.code).toBe(200);
      expect(write.code).toBe(403);
      expect(write.body).toEqual({
        kind: 'Status',
        apiVersion: 'v1',
        metadata: {},
        status: 'Failure',
        message: `configmaps is forbidden: User "${user}" cannot create resource "configmaps" in API group "" in the namespace "${scratch().namespace}"`,
        reason: 'Forbidden',
        details: { kind: 'configmaps' },
        code: 403,
      });
    });

    it('is refused with the name of the object and the group', async () => {
      const { namespace, path } = scratch();

      const reply = await asUser('DELETE', path('deployments', 'shop'));

      expect(reply.body).toMatchObject({
        message: `deployments.apps "shop" is forbidden: User "${user}" cannot delete resource "deployments" in API group "apps" in the namespace "${namespace}"`,
        details: { name: 'shop', group: 'apps', kind: 'deployments' },
      });
    });

    it('is refused at the cluster scope in other words', async () => {
      const nodes = await asUser('GET', '/api/v1/nodes');
      const all = await asUser('GET', '/api/v1/configmaps');

      expect(nodes.body.message).toBe(
        `nodes is forbidden: User "${user}" cannot list resource "nodes" in API group "" at the cluster scope`,
      );
      expect(all.body.message).toBe(
        `configmaps is forbidden: User "${user}" cannot list resource "configmaps" in API group "" at the cluster scope`,
      );
    });

    it('can be limited to names', async () => {
      const { namespace, path } = scratch();

      const mine = await asUser('GET', path('secrets', 'mine'));
      const other = await asUser('GET', path('secrets', 'other'));
      const list = await asUser('GET', path('secrets'));

      expect(mine.code).toBe(200);
      expect(other.body.message).toBe(
        `secrets "other" is forbidden: User "${user}" cannot get resource "secrets" in API group "" in the namespace "${namespace}"`,
      );
      expect(list.code).toBe(403);
    });

    it('covers subresources only by name', async () => {
      const { namespace, path } = scratch();

      const scale = await asUser('GET', path('deployments', 'shop', 'scale'));
      const status = await asUser('GET', path('deployments', 'shop', 'status'));

      expect(scale.code).toBe(200);
      expect(status.body.message).toBe(
        `deployments.apps "shop" is forbidden: User "${user}" cannot get resource "deployments/status" in API group "apps" in the namespace "${namespace}"`,
      );
    });

    it('does not reveal whether a forbidden object exists', async () => {
      const { path } = scratch();

      const there = await asUser('DELETE', path('configmaps', 'visible'));
      const absent = await asUser('DELETE', path('configmaps', 'absent'));

      expect([there.code, absent.code]).toEqual([403, 403]);
    });

    it('uses the verb patch for every patch, and also create for an apply that creates', async () => {
      const { namespace, path } = scratch();
      const headers = { 'content-type': 'application/apply-patch+yaml' };

      const patch = await asUser('PATCH', path('configmaps', 'visible'), {
        body: {},
        headers: { 'content-type': 'application/merge-patch+json' },
      });
      await allow('patcher', [{ apiGroups: [''], resources: ['configmaps'], verbs: ['patch'] }]);
      const existing = await untilAllowed('PATCH', path('configmaps', 'visible'), {
        query: { fieldManager: 'x' },
        body: configMap('visible'),
        headers,
      });
      const creating = await asUser('PATCH', path('configmaps', 'created'), {
        query: { fieldManager: 'x' },
        body: configMap('created'),
        headers,
      });

      expect(patch.body.message).toBe(
        `configmaps "visible" is forbidden: User "${user}" cannot patch resource "configmaps" in API group "" in the namespace "${namespace}"`,
      );
      expect(existing.code).toBe(200);
      expect(creating.code).toBe(403);
      expect(creating.body.message).toContain(`User "${user}" cannot create resource "configmaps"`);
    });

    it('comes from groups too', async () => {
      const { call, create, path } = scratch();
      const group = uniqueName('group');
      await create('rolebindings', {
        metadata: { name: 'by-group' },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'reader' },
        subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: group }],
      });
      const headers = { 'impersonate-user': 'someone', 'impersonate-group': [group] };

      const reply = await eventually(
        () => call('GET', path('configmaps'), { headers }),
        ({ code }) => code !== 403,
      );
      const secrets = await call('GET', path('secrets'), { headers });

      expect(reply.code).toBe(200);
      expect(secrets.code).toBe(403);
    });

    it('covers paths that are no resources', async () => {
      const { call } = scratch();
      const name = uniqueName('metrics');
      const metrics = await asUser('GET', '/metrics');
      const version = await asUser('GET', '/version');
      await call('POST', `/${rbac}/clusterroles`, {
        body: { metadata: { name }, rules: [{ nonResourceURLs: ['/metrics'], verbs: ['get'] }] },
      });
      await call('DELETE', `/${rbac}/clusterroles/${name}`);

      expect(metrics.code).toBe(403);
      expect(metrics.body.message).toBe(`forbidden: User "${user}" cannot get path "/metrics"`);
      expect(version.code).toBe(200);
    });

    it('can be asked for', async () => {
      const { namespace } = scratch();
      const reviews = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';
      const attributes = { namespace, resource: 'configmaps' };

      const yes = await asUser('POST', reviews, {
        body: { spec: { resourceAttributes: { ...attributes, verb: 'list' } } },
      });
      const no = await asUser('POST', reviews, {
        body: { spec: { resourceAttributes: { ...attributes, verb: 'delete' } } },
      });

      expect(expectCode(201, yes).status).toMatchObject({ allowed: true });
      expect(expectCode(201, no).status).toMatchObject({ allowed: false });
    });

    it('can be asked for on behalf of others', async () => {
      const { call, namespace } = scratch();
      const resourceAttributes = { namespace, resource: 'secrets', name: 'mine', verb: 'update' };

      const reply = await call('POST', '/apis/authorization.k8s.io/v1/subjectaccessreviews', {
        body: { spec: { user, resourceAttributes } },
      });

      expect(expectCode(201, reply).status).toMatchObject({ allowed: true });
    });

    it('can be listed', async () => {
      const { namespace } = scratch();

      const reply = await asUser('POST', '/apis/authorization.k8s.io/v1/selfsubjectrulesreviews', {
        body: { spec: { namespace } },
      });

      const { resourceRules } = expectCode(201, reply).status as { resourceRules: object[] };
      expect(resourceRules).toContainEqual({
        apiGroups: [''],
        resources: ['configmaps'],
        verbs: ['get', 'list', 'watch'],
      });
    });
  });
}
