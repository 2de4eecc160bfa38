import { describe, expect, it } from '@jest/globals';
import type { Target } from './client.ts';
import { deployment, pod } from './samples.ts';
import { expectCode, useScratch } from './scratch.ts';

/** The status, scale, token and binding subresources. */
export function subresourceCases(target: () => Target): void {
  describe('subresources', () => {
    const scratch = useScratch(target, { settled: true });

    it('ignore status in a write of the object, and spec in a write of the status', async () => {
      const { create, get, patch, path } = scratch();
      await create('deployments', { ...deployment('separate', { paused: true }), status: { collisionCount: 7 } });

      await patch('merge', path('deployments', 'separate'), { status: { collisionCount: 8 } });
      const before = await get('deployments', 'separate');
      const reply = await patch('merge', path('deployments', 'separate', 'status'), {
        metadata: { labels: { no: 'label' } },
        spec: { minReadySeconds: 99 },
        status: { collisionCount: 9 },
      });

      expect(before.status).not.toHaveProperty('collisionCount');
      const after = expectCode(200, reply);
      expect(after.status).toMatchObject({ collisionCount: 9 });
      expect(after.spec).not.toHaveProperty('minReadySeconds');
      expect(after.metadata?.generation).toBe(before.metadata?.generation);
    });

    it('replace the status with a conflict check', async () => {
      const { call, create, path, until } = scratch();
      await create('deployments', deployment('checked'));
      const made = await until('deployments', 'checked', ({ status }) => {
        return (status as { observedGeneration?: number }).observedGeneration === 1;
      });

      const first = await call('PUT', path('deployments', 'checked', 'status'), {
        body: { ...made, status: { ...(made.status as object), collisionCount: 1 } },
      });
      const second = await call('PUT', path('deployments', 'checked', 'status'), {
        body: { ...made, status: { ...(made.status as object), collisionCount: 2 } },
      });

      expect(expectCode(200, first).status).toMatchObject({ collisionCount: 1 });
      expect(second.code).toBe(409);
    });

    it('show the scale of a Deployment', async () => {
      const { call, create, path } = scratch();
      const made = await create('deployments', deployment('scaled'));

      const { body } = await call('GET', path('deployments', 'scaled', 'scale'));

      expect(body).toMatchObject({
        kind: 'Scale',
        apiVersion: 'autoscaling/v1',
        metadata: { name: 'scaled', uid: made.metadata?.uid },
        status: { replicas: 0, selector: 'app=scaled' },
      });
      expect(body.spec).toEqual({});
    });

    it('change the replicas through the scale', async () => {
      const { call, create, get, patch, path } = scratch();
      await create('deployments', deployment('rescaled', { paused: true }));
      const scale = expectCode(200, await call('GET', path('deployments', 'rescaled', 'scale')));

      const put = await call('PUT', path('deployments', 'rescaled', 'scale'), {
        body: { ...scale, metadata: { ...scale.metadata, resourceVersion: undefined }, spec: { replicas: 2 } },
      });
      const patched = await patch('merge', path('deployments', 'rescaled', 'scale'), { spec: { replicas: 3 } });

      expect(expectCode(200, put).spec).toEqual({ replicas: 2 });
      expect(expectCode(200, patched).spec).toEqual({ replicas: 3 });
      const after = await get('deployments', 'rescaled');
      expect(after.spec?.['replicas']).toBe(3);
      expect(after.metadata?.generation).toBe(3);
    });

    it('refuse a scale with an outdated resourceVersion or a negative count', async () => {
      const { call, create, patch, path } = scratch();
      await create('deployments', deployment('unscaled'));
      const scale = expectCode(200, await call('GET', path('deployments', 'unscaled', 'scale')));

      const stale = await call('PUT', path('deployments', 'unscaled', 'scale'), {
        body: { ...scale, metadata: { ...scale.metadata, resourceVersion: '1' }, spec: { replicas: 1 } },
      });
      const negative = await patch('merge', path('deployments', 'unscaled', 'scale'), { spec: { replicas: -1 } });

      expect(stale.code).toBe(409);
      expect(negative.code).toBe(422);
      expect(negative.body.details?.causes?.[0]).toMatchObject({
        field: 'spec.replicas',
        message: 'Invalid value: -1: must be greater than or equal to 0',
      });
    });

    it('issue tokens of a ServiceAccount that name it', async () => {
      const { call, client, create, namespace, path } = scratch();
      await create('serviceaccounts', { metadata: { name: 'robot' } });

      const issued = await call('POST', path('serviceaccounts', 'robot', 'token'), {
        body: { spec: { expirationSeconds: 3600 } },
      });
      const { token } = expectCode(201, issued).status as { token: string };
      const who = await client.call('POST', '/apis/authentication.k8s.io/v1/selfsubjectreviews', {
        headers: { authorization: `Bearer ${token}` },
        body: {},
      });

      expect(issued.body.kind).toBe('TokenRequest');
      expect(expectCode(201, who).status).toMatchObject({
        userInfo: {
          username: `system:serviceaccount:${namespace}:robot`,
          groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'],
        },
      });
    });

    it('refuse a token that lives too briefly', async () => {
      const { call, create, path } = scratch();
      await create('serviceaccounts', { metadata: { name: 'brief' } });

      const reply = await call('POST', path('serviceaccounts', 'brief', 'token'), {
        body: { spec: { expirationSeconds: 60 } },
      });

      expect(reply.code).toBe(422);
      expect(reply.body.details?.causes?.[0]).toMatchObject({
        field: 'spec.expirationSeconds',
        message: 'Invalid value: 60: may not specify a duration less than 10 minutes',
      });
    });

    it('answer 404 for a subresource that a kind does not have', async () => {
      const { call, create, path } = scratch();
      await create('serviceaccounts', { metadata: { name: 'no-scale' } });

      const reply = await call('GET', path('serviceaccounts', 'no-scale', 'scale'));

      expect(reply.code).toBe(404);
      expect(reply.body.message).toBe('the server could not find the requested resource');
    });

    it('fill in the defaults of a pod', async () => {
      const { create } = scratch();

      const made = await create('pods', pod('defaulted'), { query: { dryRun: 'All' } });

      expect(made.spec).toMatchObject({
        restartPolicy: 'Always',
        dnsPolicy: 'ClusterFirst',
        serviceAccountName: 'default',
        schedulerName: 'default-scheduler',
        terminationGracePeriodSeconds: 30,
        enableServiceLinks: true,
        containers: [
          {
            name: 'app',
            imagePullPolicy: 'IfNotPresent',
            terminationMessagePath: '/dev/termination-log',
            terminationMessagePolicy: 'File',
          },
        ],
      });
      expect(made.status).toMatchObject({ phase: 'Pending', qosClass: 'BestEffort' });
    });
  });
}
