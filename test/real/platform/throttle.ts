import { request } from 'node:https';
import type { Client } from '../../../lib/sandbox/test/contract/client.ts';
import { expectCode } from '../../../lib/sandbox/test/contract/scratch.ts';
import { applyManifest, pathOf, type AnyManifest } from '../../support/manifests.ts';
import { waitUntil } from '../parts/wait.ts';

const hog = 'hog';
const as = { 'impersonate-user': hog };
const name = 'throttled';
const configMaps = '/api/v1/namespaces/default/configmaps';

/**
 * Makes the API server answer 429 to everything that a user asks, by its own flow control; returns what ends it. The
 * user shares a level without seats with somebody whose request, having found the level empty, never ends.
 */
export async function throttle(client: Client, username: string): Promise<() => Promise<void>> {
  const manifests = [rightsOfHog, level, schemaFor([username, hog])];
  for (const manifest of manifests) {
    await applyManifest(client, manifest);
  }
  const { metadata } = expectCode(200, await client.call('GET', pathOf(schemaFor([]))));
  await waitUntil('the flow control', async () => {
    const { headers } = await client.call('GET', configMaps, { headers: as });
    return headers['x-kubernetes-pf-flowschema-uid'] === metadata?.uid;
  });
  const endless = request(
    client.options('POST', configMaps, {
      headers: { ...as, 'content-type': 'application/json', 'content-length': '9' },
    }),
  );
  endless.on('error', () => undefined); // it is broken off below
  endless.flushHeaders();
  return async () => {
    endless.destroy();
    for (const manifest of manifests.toReversed()) {
      expectCode(200, await client.call('DELETE', pathOf(manifest)));
    }
  };
}

const rightsOfHog = {
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRoleBinding',
  metadata: { name: hog },
  roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
  subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: hog }],
};

const level = {
  apiVersion: 'flowcontrol.apiserver.k8s.io/v1',
  kind: 'PriorityLevelConfiguration',
  metadata: { name },
  spec: {
    type: 'Limited',
    limited: { nominalConcurrencyShares: 0, borrowingLimitPercent: 0, limitResponse: { type: 'Reject' } },
  },
};

function schemaFor(users: readonly string[]): AnyManifest {
  const resourceRules = [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'], clusterScope: true, namespaces: ['*'] }];
  const subjects = users.map((user) => ({ kind: 'User', user: { name: user } }));
  return {
    apiVersion: level.apiVersion,
    kind: 'FlowSchema',
    metadata: { name },
    // 1 is reserved, and nothing else that matches these users may come first.
    spec: { matchingPrecedence: 2, priorityLevelConfiguration: { name }, rules: [{ subjects, resourceRules }] },
  };
}
