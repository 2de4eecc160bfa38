import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createClient, type Body, type Client } from '../../../lib/sandbox/test/contract/client.ts';
import { deployment, podSpec } from '../../../lib/sandbox/test/contract/samples.ts';
import { useScratch } from '../../../lib/sandbox/test/contract/scratch.ts';
import { eventually } from '../../../lib/sandbox/test/contract/watching.ts';
import { callsOf, readAudit } from './audit.ts';
import { startCluster, type Cluster } from './cluster.ts';
import { addNodes } from './nodes.ts';
import { startProxy } from './proxy.ts';
import { currentRuns, isAlive, type RunRecord } from './runs.ts';

describe('the real control plane', () => {
  let cluster: Cluster | undefined;

  function up(): Cluster {
    if (cluster === undefined) {
      throw new Error('the cluster is not up yet');
    }
    return cluster;
  }

  beforeAll(async () => {
    cluster = await startCluster({ parts: ['kube-controller-manager', 'kube-scheduler', 'kwok'] });
    await addNodes(cluster, ['node-1', 'node-2']);
  });
  afterAll(() => cluster?.stop());

  describe('up', () => {
    const scratch = useScratch(() => ({ ...up().access, forget: () => Promise.resolve() }), { settled: true });

    it('rolls out a Deployment', async () => {
      const { create, until } = scratch();

      await create('deployments', deployment('shop', { replicas: 3 }));
      const done = await until('deployments', 'shop', ({ status }) => {
        return (status as { readyReplicas?: number }).readyReplicas === 3;
      });

      expect(conditionOf(done, 'Available')).toBe('True');
    });

    it('keeps pods from becoming ready as their annotations say', async () => {
      const { create, until } = scratch();
      const labels = { app: 'late' };
      const annotations = { 'sandbox.kube-reflex.dev/ready': 'never' };

      await create(
        'deployments',
        deployment('late', { replicas: 1, template: { metadata: { labels, annotations }, spec: podSpec() } }),
      );
      const done = await until('deployments', 'late', ({ status }) => {
        return (status as { unavailableReplicas?: number; updatedReplicas?: number }).updatedReplicas === 1;
      });

      expect(done.status).toMatchObject({ unavailableReplicas: 1 });
    });

    it('keeps its objects over a kill of the API server', async () => {
      const { create, get } = scratch();
      const made = await create('configmaps', { metadata: { name: 'survives' }, data: { a: '1' } });

      await up().restart('kube-apiserver');

      expect(await get('configmaps', 'survives')).toEqual(made);
    });

    it('writes down who called what', async () => {
      const { call, path } = scratch();
      const headers = { 'impersonate-user': 'auditor', 'impersonate-group': ['system:masters'] };

      await call('GET', path('configmaps'), { headers });
      await call('GET', path('configmaps', 'absent'), { headers });
      const calls = await eventually(
        () => Promise.resolve(callsOf('auditor', readAudit(up()))),
        (found) => Object.keys(found).length === 2,
      );

      expect(calls).toEqual({ 'list configmaps': 1, 'get configmaps': 1 });
    });

    it('can be reached through a proxy that counts and cuts', async () => {
      const { access } = up();
      await using proxy = await startProxy(Number(new URL(access.url).port));
      const client: Client = createClient({ ...access, url: `https://127.0.0.1:${String(proxy.port)}` });

      const before = await client.call('GET', '/api/v1/namespaces');
      proxy.refuse(true);
      proxy.cut();
      const cut = await client.call('GET', '/api/v1/namespaces').catch((error: unknown) => error);
      proxy.refuse(false);
      const after = await client.call('GET', '/api/v1/namespaces');

      expect([before.code, after.code]).toEqual([200, 200]);
      expect(cut).toHaveProperty('code');
      expect(proxy.bytes().received).toBeGreaterThan(before.text.length);
      client.close();
    });
  });
});

describe('a run that is killed', () => {
  it('takes its parts with it', async () => {
    const child = spawn(process.execPath, [join(import.meta.dirname, '../cli.ts'), 'up', 'etcd'], { stdio: 'ignore' });
    const run = await eventually(
      () => Promise.resolve(currentRuns().find(({ owner }) => owner === child.pid)),
      (found: RunRecord | undefined) => (found?.parts.length ?? 0) >= 2,
    );

    child.kill('SIGKILL');
    await once(child, 'exit');
    const pids = (run?.parts ?? []).map(({ pid }) => pid);
    await eventually(
      () => Promise.resolve(pids.filter(isAlive)),
      (left) => left.length === 0,
    );

    expect(pids).toHaveLength(2);
    rmSync(run?.directory ?? '', { recursive: true, force: true });
  });
});

function conditionOf({ status }: Body, type: string): string | undefined {
  const { conditions = [] } = status as { conditions?: { type: string; status: string }[] };
  return conditions.find((condition) => condition.type === type)?.status;
}
