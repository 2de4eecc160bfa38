import { afterAll, beforeAll, describe } from '@jest/globals';
import { apiContract } from '../../../lib/sandbox/test/contract/suite.ts';
import { startCluster, type Cluster } from '../parts/cluster.ts';
import { forgetHistory } from '../parts/history.ts';
import { addNodes } from '../parts/nodes.ts';

describe('the real API server', () => {
  let cluster: Cluster | undefined;
  beforeAll(async () => {
    cluster = await startCluster({ parts: ['kube-controller-manager', 'kube-scheduler', 'kwok'] });
    await addNodes(cluster, ['node-1', 'node-2']);
  });
  afterAll(() => cluster?.stop());

  apiContract(() => {
    if (cluster === undefined) {
      throw new Error('the cluster is not up yet');
    }
    const running = cluster;
    return { ...running.access, forget: () => forgetHistory(running) };
  });
});
