import { apiServer, type InternalApi, type KindRef } from '../model/internal.ts';
import type { Service } from '../../kube/model/resource.ts';
import { sandboxNode } from '../controllers/nodes.ts';
import { createStandardRoles } from '../access/rbac-roles.ts';

const namespaces: KindRef = { group: '', plural: 'namespaces' };
const services: KindRef = { group: '', plural: 'services' };
const nodes: KindRef = { group: '', plural: 'nodes' };

/** The API server itself. */
/** What every cluster has from its first moment, and nodes for its pods. */
export async function bootstrap(api: InternalApi, nodeCount: number): Promise<void> {
  for (const name of ['default', 'kube-node-lease', 'kube-public', 'kube-system']) {
    await api.create(namespaces, { metadata: { name } }, apiServer);
  }
  await api.create(services, kubernetes, apiServer);
  await createStandardRoles(api);
  for (let number = 1; number <= nodeCount; number += 1) {
    await api.create(nodes, sandboxNode(`sandbox-${number}`), apiServer);
  }
}

/** The API as pods would reach it. */
const kubernetes: Service = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: {
    name: 'kubernetes',
    namespace: 'default',
    labels: { component: 'apiserver', provider: 'kubernetes' },
  },
  spec: { clusterIP: '10.96.0.1', ports: [{ name: 'https', port: 443, protocol: 'TCP', targetPort: 6443 }] },
};
