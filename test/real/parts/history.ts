import { createClient } from '../../../lib/sandbox/test/contract/client.ts';
import type { Cluster } from './cluster.ts';
import { portOf } from './control-plane.ts';

/** Compacts etcd to its present revision; what is older can no longer be read. */
export async function compact({ access, site }: Cluster): Promise<void> {
  const client = createClient(access);
  const { body } = await client.call('GET', '/api/v1/namespaces', { query: { limit: 1 } });
  client.close();
  const revision = body.metadata?.resourceVersion;
  const reply = await fetch(`http://127.0.0.1:${site.base + portOf.etcd}/v3/kv/compaction`, {
    method: 'POST',
    body: JSON.stringify({ revision, physical: true }),
  });
  if (!reply.ok) {
    throw new Error(`compact etcd: ${await reply.text()}`);
  }
}

/** Compacts etcd and starts the API server anew, whose memory of recent events would otherwise hide it. */
export async function forgetHistory(cluster: Cluster): Promise<void> {
  await compact(cluster);
  await cluster.restart('kube-apiserver');
}
