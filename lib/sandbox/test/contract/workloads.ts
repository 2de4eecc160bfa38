import { describe, expect, it } from '@jest/globals';
import type { Body, Target } from './client.ts';
import { deployment, podSpec } from './samples.ts';
import { useScratch, type Scratch } from './scratch.ts';
import { eventually, untilGone } from './watching.ts';

const never = { 'sandbox.kube-reflex.dev/ready': 'never' };

/** Controllers of workloads: what becomes of a Deployment and its kin. */
export function workloadCases(target: () => Target): void {
  describe('workloads', () => {
    const scratch = useScratch(target, { settled: true });

    it('roll out a Deployment through a ReplicaSet to pods', async () => {
      const { create, until } = scratch();

      const made = await create('deployments', deployment('shop', { replicas: 2 }));
      const done = await until('deployments', 'shop', hasReady(2));
      const [set] = await owned(scratch(), 'replicasets', made);

      expect(done.metadata?.annotations).toMatchObject({ 'deployment.kubernetes.io/revision': '1' });
      expect(done.status).toMatchObject({
        observedGeneration: 1,
        replicas: 2,
        updatedReplicas: 2,
        readyReplicas: 2,
        availableReplicas: 2,
      });
      expect(conditionsOf(done)).toMatchObject({ Available: 'True', Progressing: 'True' });
      expect(set?.metadata?.ownerReferences).toEqual([
        {
          apiVersion: 'apps/v1',
          kind: 'Deployment',
          name: 'shop',
          uid: made.metadata?.uid,
          controller: true,
          blockOwnerDeletion: true,
        },
      ]);
    });

    it('name ReplicaSets and pods after the hash of their template', async () => {
      const { create, until } = scratch();

      const made = await create('deployments', deployment('names', { replicas: 2 }));
      await until('deployments', 'names', hasReady(2));
      const [set] = await owned(scratch(), 'replicasets', made);
      const pods = await owned(scratch(), 'pods', set);

      const { name, labels } = set?.metadata ?? {};
      expect(labels).toEqual({ app: 'names', 'pod-template-hash': expect.any(String) });
      expect(name).toBe(`names-${labels?.['pod-template-hash'] ?? ''}`);
      expect(pods).toHaveLength(2);
      for (const pod of pods) {
        expect(pod).toMatchObject({
          metadata: { name: expect.stringMatching(new RegExp(`^${name ?? ''}-[a-z0-9]{5}$`)), labels },
          spec: { nodeName: expect.any(String) },
          status: { phase: 'Running' },
        });
      }
    });

    it('replace pods when the template changes, and count the revision', async () => {
      const { create, patch, path, until } = scratch();
      const made = await create('deployments', deployment('changes', { replicas: 1 }));
      await until('deployments', 'changes', hasReady(1));

      await patch('strategic', path('deployments', 'changes'), {
        spec: { template: { metadata: { annotations: { 'kubectl.kubernetes.io/restartedAt': 'now' } } } },
      });
      const done = await until('deployments', 'changes', (object) => {
        const { observedGeneration, updatedReplicas, replicas, availableReplicas } = statusOf(object);
        return observedGeneration === 2 && updatedReplicas === 1 && replicas === 1 && availableReplicas === 1;
      });
      const sets = await owned(scratch(), 'replicasets', made);

      expect(done.metadata?.annotations).toMatchObject({ 'deployment.kubernetes.io/revision': '2' });
      const revisions = sets.map(({ metadata, spec }) => [
        metadata?.annotations?.['deployment.kubernetes.io/revision'],
        spec?.['replicas'],
      ]);
      expect(revisions.sort()).toEqual([
        ['1', 0],
        ['2', 1],
      ]);
    });

    it('keep old pods until new ones are ready', async () => {
      const { create, patch, path, until } = scratch();
      const strategy = { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } };
      await create('deployments', deployment('careful', { replicas: 2, strategy }));
      await until('deployments', 'careful', hasReady(2));

      await patch('strategic', path('deployments', 'careful'), {
        spec: { template: { metadata: { annotations: never } } },
      });
      const stuck = await until('deployments', 'careful', (object) => statusOf(object).updatedReplicas === 1);

      expect(stuck.status).toMatchObject({
        replicas: 3,
        readyReplicas: 2,
        availableReplicas: 2,
        unavailableReplicas: 1,
      });
    });

    it('follow the scale', async () => {
      const { create, patch, path, until } = scratch();
      const made = await create('deployments', deployment('scales', { replicas: 3 }));
      await until('deployments', 'scales', hasReady(3));

      await patch('merge', path('deployments', 'scales', 'scale'), { spec: { replicas: 1 } });
      await until('deployments', 'scales', (object) => statusOf(object).replicas === 1);
      const [set] = await owned(scratch(), 'replicasets', made);
      const pods = await eventually(
        () => owned(scratch(), 'pods', set),
        (left) => left.length === 1,
      );

      expect(pods[0]?.status).toMatchObject({ phase: 'Running' });
    });

    it('make up for a pod that is deleted', async () => {
      const { call, create, path, until } = scratch();
      const made = await create('deployments', deployment('heals', { replicas: 1 }));
      await until('deployments', 'heals', hasReady(1));
      const [set] = await owned(scratch(), 'replicasets', made);
      const [lost] = await owned(scratch(), 'pods', set);

      await call('DELETE', path('pods', lost?.metadata?.name), { body: { gracePeriodSeconds: 0 } });
      const pods = await eventually(
        () => owned(scratch(), 'pods', set),
        (now) => now.length === 1 && now[0]?.metadata?.uid !== lost?.metadata?.uid,
      );

      expect(pods).toHaveLength(1);
    });

    it('leave a paused Deployment alone', async () => {
      const { create, patch, path, until } = scratch();
      const made = await create('deployments', deployment('pauses', { replicas: 1, paused: true }));
      const seen = await until('deployments', 'pauses', (object) => statusOf(object).observedGeneration === 1);

      expect(statusOf(seen).updatedReplicas).toBeUndefined();
      expect(await owned(scratch(), 'replicasets', made)).toEqual([]);
      await patch('merge', path('deployments', 'pauses'), { spec: { paused: false } });
      await until('deployments', 'pauses', hasReady(1));
    });

    it('take everything with them', async () => {
      const { call, client, create, path, until } = scratch();
      const made = await create('deployments', deployment('ends', { replicas: 1 }));
      await until('deployments', 'ends', hasReady(1));
      const [set] = await owned(scratch(), 'replicasets', made);
      const [pod] = await owned(scratch(), 'pods', set);

      await call('DELETE', path('deployments', 'ends'));

      await untilGone(client, path('replicasets'), set?.metadata?.name ?? '');
      await untilGone(client, path('pods'), pod?.metadata?.name ?? '');
    });

    it('number the pods of a StatefulSet and start them in order', async () => {
      const { create, get, until } = scratch();
      const made = await create('statefulsets', {
        ...deployment('data', { replicas: 2, serviceName: 'data' }),
        kind: 'StatefulSet',
      });
      await until('statefulsets', 'data', hasReady(2));
      const pods = await owned(scratch(), 'pods', made);
      const first = await get('pods', 'data-0');

      expect(pods.map(({ metadata }) => metadata?.name)).toEqual(['data-0', 'data-1']);
      expect(first.metadata?.labels).toMatchObject({
        'statefulset.kubernetes.io/pod-name': 'data-0',
        'apps.kubernetes.io/pod-index': '0',
        'controller-revision-hash': expect.any(String),
      });
      expect(first.spec).toMatchObject({ hostname: 'data-0', subdomain: 'data' });
    });

    it('run a DaemonSet on every node', async () => {
      const { call, create, until } = scratch();
      const nodes = (await call('GET', '/api/v1/nodes')).body.items ?? [];
      const labels = { app: 'everywhere' };

      const made = await create('daemonsets', {
        apiVersion: 'apps/v1',
        kind: 'DaemonSet',
        metadata: { name: 'everywhere' },
        spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: podSpec() } },
      });
      const done = await until('daemonsets', 'everywhere', ({ status }) => {
        return (status as { numberReady?: number }).numberReady === nodes.length;
      });
      const pods = await owned(scratch(), 'pods', made);

      expect(done.status).toMatchObject({ desiredNumberScheduled: nodes.length, numberAvailable: nodes.length });
      expect(pods.map(({ spec }) => spec?.['nodeName']).sort()).toEqual(
        nodes.map(({ metadata }) => metadata?.name).sort(),
      );
    });

    it('complete a Job', async () => {
      const { create, until } = scratch();

      await create('jobs', {
        apiVersion: 'batch/v1',
        kind: 'Job',
        metadata: { name: 'once' },
        spec: { template: { spec: { ...podSpec(), restartPolicy: 'Never' } } },
      });
      const done = await until('jobs', 'once', (object) => conditionsOf(object)['Complete'] === 'True');

      expect(done.status).toMatchObject({
        succeeded: 1,
        startTime: expect.any(String),
        completionTime: expect.any(String),
      });
    });
  });
}

interface Counts {
  readonly observedGeneration?: number;
  readonly replicas?: number;
  readonly updatedReplicas?: number;
  readonly readyReplicas?: number;
  readonly availableReplicas?: number;
}

function statusOf({ status }: Body): Counts {
  return status ?? {};
}

function hasReady(count: number): (object: Body) => boolean {
  return (object) => statusOf(object).readyReplicas === count;
}

function conditionsOf({ status }: Body): Record<string, string> {
  const { conditions = [] } = (status ?? {}) as { conditions?: { type: string; status: string }[] };
  return Object.fromEntries(conditions.map((condition) => [condition.type, condition.status]));
}

/** Living objects of a kind that the owner controls. */
async function owned({ call, path }: Scratch, plural: string, owner: Body | undefined): Promise<Body[]> {
  const { body } = await call('GET', path(plural));
  return (body.items ?? []).filter(
    ({ metadata }) =>
      metadata?.deletionTimestamp === undefined &&
      metadata?.ownerReferences?.some(({ uid }) => uid === owner?.metadata?.uid) === true,
  );
}
