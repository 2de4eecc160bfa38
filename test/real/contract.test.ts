import { afterAll, beforeAll, describe } from '@jest/globals';
import { apiContract } from '../contract/api/suite.ts';
import { startCluster, type Cluster } from './cluster.ts';
import { forgetHistory } from './history.ts';

describe('the real API server', () => {
  let cluster: Cluster | undefined;
  beforeAll(async () => {
    cluster = await startCluster({ parts: ['kube-controller-manager'] });
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
