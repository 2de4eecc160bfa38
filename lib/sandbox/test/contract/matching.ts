import { describe, expect, it } from '@jest/globals';
import type { Target } from './client.ts';
import { useHooks, type HookOptions } from './hooks.ts';
import { deployment } from './samples.ts';
import { expectCode, useScratch } from './scratch.ts';

const configMapRule = { apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'], operations: ['CREATE'] };

/** Which requests a webhook sees. */
export function matchingCases(target: () => Target): void {
  describe('matching of webhooks', () => {
    const scratch = useScratch(target);
    const hooks = useHooks(scratch);

    it('goes by operation', async () => {
      const { call, path, patch } = scratch();
      const { called, register, seen } = hooks();
      await register('Validating', 'a', {
        creates: { fields: { rules: [configMapRule] } },
        updates: { fields: { rules: [{ ...configMapRule, operations: ['UPDATE'] }] } },
        deletes: { fields: { rules: [{ ...configMapRule, operations: ['DELETE'] }] } },
        all: { fields: { rules: [{ ...configMapRule, operations: ['*'] }] } },
      });

      await call('POST', path('configmaps'), { body: seen('operations') });
      await patch('merge', path('configmaps', 'operations'), { data: { a: '1' } });
      await call('DELETE', path('configmaps', 'operations'));

      const byOperation = [0, 2, 4].map((start) => called.slice(start, start + 2).sort());
      expect(byOperation).toEqual([
        ['all', 'creates'],
        ['all', 'updates'],
        ['all', 'deletes'],
      ]);
    });

    it('goes by group, version and resource, with wildcards', async () => {
      const { call, path } = scratch();
      const { called, register, seen } = hooks();
      function rule(fields: object): HookOptions {
        return { fields: { rules: [{ ...configMapRule, ...fields }] } };
      }
      await register('Validating', 'a', {
        exact: rule({}),
        resources: rule({ resources: ['*'] }),
        everything: rule({ apiGroups: ['*'], apiVersions: ['*'], resources: ['*/*'] }),
        group: rule({ apiGroups: ['apps'] }),
        version: rule({ apiVersions: ['v2'] }),
        resource: rule({ resources: ['secrets'] }),
      });

      await call('POST', path('configmaps'), { body: seen('resources') });

      expect([...called].sort()).toEqual(['everything', 'exact', 'resources']);
    });

    it('goes by scope', async () => {
      const { call, path } = scratch();
      const { called, register, seen } = hooks();
      await register('Validating', 'a', {
        inside: { fields: { rules: [{ ...configMapRule, scope: 'Namespaced' }] } },
        outside: { fields: { rules: [{ ...configMapRule, scope: 'Cluster' }] } },
      });

      await call('POST', path('configmaps'), { body: seen('scoped') });

      expect([...called]).toEqual(['inside']);
    });

    it('takes subresources only where a rule names them', async () => {
      const { create, patch, path } = scratch();
      const { called, label, register, requests } = hooks();
      await create('deployments', deployment('scaled', {}, { labels: { hooks: label } }));
      const rule = { apiGroups: ['apps'], apiVersions: ['v1'], operations: ['UPDATE'] };
      const fields = { objectSelector: {} };
      await register('Validating', 'a', {
        object: { fields: { ...fields, rules: [{ ...rule, resources: ['deployments'] }] } },
        scale: { fields: { ...fields, rules: [{ ...rule, resources: ['deployments/scale'] }] } },
        any: { fields: { ...fields, rules: [{ ...rule, resources: ['deployments/*'] }] } },
      });

      await patch('merge', path('deployments', 'scaled', 'scale'), { spec: { replicas: 0 } });

      const scales = requests.filter(({ subResource }) => subResource === 'scale');
      expect(called).toContain('scale');
      expect(called).toContain('any');
      expect(scales[0]).toMatchObject({
        kind: { group: 'autoscaling', version: 'v1', kind: 'Scale' },
        resource: { group: 'apps', version: 'v1', resource: 'deployments' },
        subResource: 'scale',
        name: 'scaled',
      });
    });

    it('goes by the labels of the namespace', async () => {
      const { call, path } = scratch();
      const { called, register, seen } = hooks();
      const key = 'kubernetes.io/metadata.name';
      await register('Validating', 'a', {
        here: {},
        elsewhere: { fields: { namespaceSelector: { matchLabels: { [key]: 'elsewhere' } } } },
        excepted: {
          fields: {
            namespaceSelector: { matchExpressions: [{ key, operator: 'NotIn', values: [scratch().namespace] }] },
          },
        },
      });

      await call('POST', path('configmaps'), { body: seen('namespaced') });

      expect([...called]).toEqual(['here']);
    });

    it('goes by the labels of the object before or after', async () => {
      const { call, path, patch } = scratch();
      const { called, label, register, seen } = hooks();
      function selects(stage: string): HookOptions {
        const objectSelector = { matchLabels: { hooks: label, stage } };
        return { fields: { objectSelector, rules: [{ ...configMapRule, operations: ['UPDATE'] }] } };
      }
      const made = seen('labelled') as { metadata: { labels: object } };
      const labels = { ...made.metadata.labels, stage: 'one' };
      expectCode(
        201,
        await call('POST', path('configmaps'), { body: { ...made, metadata: { ...made.metadata, labels } } }),
      );
      await register('Validating', 'a', { one: selects('one'), two: selects('two'), three: selects('three') });

      await patch('merge', path('configmaps', 'labelled'), { metadata: { labels: { stage: 'two' } } });

      expect([...called].sort()).toEqual(['one', 'two']);
    });

    it('goes by conditions', async () => {
      const { call, path } = scratch();
      const { called, register, seen } = hooks();
      function when(expression: string): HookOptions {
        return { fields: { matchConditions: [{ name: 'when', expression }] } };
      }
      await register('Validating', 'a', {
        holds: when('object.metadata.name == "conditioned" && request.operation == "CREATE"'),
        not: when('has(object.data) && "zz" in object.data'),
        user: when('request.userInfo.username == "nobody"'),
      });

      await call('POST', path('configmaps'), { body: seen('conditioned') });

      expect([...called]).toEqual(['holds']);
    });

    it('refuses a condition that cannot be compiled', async () => {
      const { call } = scratch();
      const webhook = {
        name: 'x.example.com',
        admissionReviewVersions: ['v1'],
        sideEffects: 'None',
        clientConfig: { url: 'https://127.0.0.1:1/x' },
        matchConditions: [{ name: 'bad', expression: 'object.' }],
      };

      const reply = await call('POST', '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations', {
        body: { metadata: { name: 'bad-condition' }, webhooks: [webhook] },
      });

      expect(reply.code).toBe(422);
      expect(reply.body.details?.causes?.[0]).toMatchObject({ field: 'webhooks[0].matchConditions[0].expression' });
    });

    it('leaves out the webhook configurations themselves', async () => {
      const { call } = scratch();
      const { called, label, register } = hooks();
      const collection = '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations';
      const rule = { apiGroups: ['*'], apiVersions: ['*'], operations: ['*'], resources: ['*'] };
      await register('Validating', 'a', { all: { fields: { rules: [rule], namespaceSelector: {} } } });

      const name = `${label}-self`;
      expectCode(201, await call('POST', collection, { body: { metadata: { name, labels: { hooks: label } } } }));
      await call('DELETE', `${collection}/${name}`);

      expect([...called]).toEqual([]);
    });

    it('sees cluster-wide objects whatever the namespace selector', async () => {
      const { call } = scratch();
      const { called, label, register, requests } = hooks();
      const rule = { apiGroups: ['*'], apiVersions: ['*'], operations: ['CREATE'], resources: ['clusterroles'] };
      await register('Validating', 'a', { roles: { fields: { rules: [rule] } } });

      const body = { metadata: { name: label, labels: { hooks: label } } };
      await call('POST', '/apis/rbac.authorization.k8s.io/v1/clusterroles', { query: { dryRun: 'All' }, body });

      expect([...called]).toEqual(['roles']);
      expect(requests[0]).not.toHaveProperty('namespace');
    });

    it('fills in the settings that a configuration leaves out', async () => {
      const { call } = scratch();
      const webhook = {
        name: 'x.example.com',
        admissionReviewVersions: ['v1'],
        sideEffects: 'None',
        clientConfig: { service: { namespace: 'default', name: 'x' } },
        rules: [configMapRule],
      };

      const reply = await call('POST', '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations', {
        query: { dryRun: 'All' },
        body: { metadata: { name: 'defaulted' }, webhooks: [webhook] },
      });

      expect(expectCode(201, reply)).toMatchObject({
        webhooks: [
          {
            failurePolicy: 'Fail',
            matchPolicy: 'Equivalent',
            namespaceSelector: {},
            objectSelector: {},
            reinvocationPolicy: 'Never',
            timeoutSeconds: 10,
            clientConfig: { service: { port: 443 } },
            rules: [{ scope: '*' }],
          },
        ],
      });
    });
  });
}
