import { describe, expect, it } from '@jest/globals';
import type { Body, Reply, Target } from './client.ts';
import { pod } from './samples.ts';
import { useScratch } from './scratch.ts';

/** Evictions and the budgets that bound them. */
export function evictionCases(target: () => Target): void {
  describe('eviction', () => {
    const scratch = useScratch(target, { settled: true });

    function evict(name: string, options: object = {}): Promise<Reply> {
      const { call, path } = scratch();
      const body = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name }, ...options };
      return call('POST', path('pods', name, 'eviction'), { body });
    }

    async function readyPod(name: string, app: string): Promise<void> {
      const { create, until } = scratch();
      await create('pods', pod(name, { labels: { app } }));
      await until('pods', name, isReady);
    }

    async function budget(app: string, spec: object, pods: number): Promise<void> {
      const { create, until } = scratch();
      await create('poddisruptionbudgets', {
        apiVersion: 'policy/v1',
        kind: 'PodDisruptionBudget',
        metadata: { name: app },
        spec: { selector: { matchLabels: { app } }, ...spec },
      });
      await until('poddisruptionbudgets', app, ({ metadata, status }) => {
        const seen = status as { observedGeneration?: number; currentHealthy?: number } | undefined;
        return seen?.observedGeneration === metadata?.generation && seen?.currentHealthy === pods;
      });
    }

    it('deletes the pod', async () => {
      const { call, create, path } = scratch();
      await create('pods', pod('evicted'));

      const reply = await evict('evicted', { deleteOptions: { gracePeriodSeconds: 0 } });

      expect(reply.code).toBe(201);
      expect(reply.body).toMatchObject({ kind: 'Status', status: 'Success' });
      expect((await call('GET', path('pods', 'evicted'))).code).toBe(404);
    });

    it('answers for an absent pod with NotFound', async () => {
      const reply = await evict('absent');

      expect(reply.code).toBe(404);
      expect(reply.body.message).toBe('pods "absent" not found');
    });

    it('refuses with 429 when the budget is used up', async () => {
      await readyPod('tight-1', 'tight');
      await budget('tight', { minAvailable: 1 }, 1);

      const reply = await evict('tight-1');

      expect(reply.code).toBe(429);
      expect(reply.body).toMatchObject({
        reason: 'TooManyRequests',
        message: "Cannot evict pod as it would violate the pod's disruption budget.",
        details: {
          causes: [
            {
              reason: 'DisruptionBudget',
              message: 'The disruption budget tight needs 1 healthy pods and has 1 currently',
            },
          ],
        },
      });
    });

    it('spends the budget', async () => {
      await readyPod('loose-1', 'loose');
      await readyPod('loose-2', 'loose');
      await budget('loose', { minAvailable: 1 }, 2);

      const first = await evict('loose-1', { deleteOptions: { gracePeriodSeconds: 0 } });
      const second = await evict('loose-2');

      expect(first.code).toBe(201);
      expect(second.code).toBe(429);
    });

    it('spends nothing in a dry run', async () => {
      const { get } = scratch();
      await readyPod('dry-1', 'dry');
      await budget('dry', { minAvailable: 0 }, 1);

      const reply = await evict('dry-1', { deleteOptions: { dryRun: ['All'] } });

      expect(reply.code).toBe(201);
      expect((await get('pods', 'dry-1')).metadata).not.toHaveProperty('deletionTimestamp');
      expect((await get('poddisruptionbudgets', 'dry')).status).toMatchObject({ disruptionsAllowed: 1 });
    });
  });
}

function isReady({ status }: Body): boolean {
  const { conditions = [] } = (status ?? {}) as { conditions?: { type: string; status: string }[] };
  return conditions.some((condition) => condition.type === 'Ready' && condition.status === 'True');
}
