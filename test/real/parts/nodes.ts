import { createClient, type Body } from '../../../lib/sandbox/test/contract/client.ts';
import { expectCode } from '../../../lib/sandbox/test/contract/scratch.ts';
import { until } from '../../../lib/sandbox/test/contract/watching.ts';
import type { Cluster } from './cluster.ts';

/** Adds nodes and waits until KWOK, which must run, has made them ready. */
export async function addNodes({ access }: Cluster, names: readonly string[]): Promise<void> {
  const client = createClient(access);
  for (const name of names) {
    expectCode(201, await client.call('POST', '/api/v1/nodes', { body: node(name) }));
    await until(client, '/api/v1/nodes', name, isReady);
  }
  client.close();
}

function node(name: string): object {
  const capacity = { cpu: '64', memory: '256Gi', pods: '500' };
  return {
    metadata: { name, labels: { 'kubernetes.io/hostname': name } },
    status: { capacity, allocatable: capacity },
  };
}

function isReady({ status }: Body): boolean {
  const { conditions = [] } = (status ?? {}) as { conditions?: { type: string; status: string }[] };
  return conditions.some((condition) => condition.type === 'Ready' && condition.status === 'True');
}
