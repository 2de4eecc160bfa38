import type { InternalApi, KindRef } from './internal.ts';

const namespaces: KindRef = { group: '', plural: 'namespaces' };

/** What every cluster has from its first moment. */
export async function bootstrap(api: InternalApi): Promise<void> {
  for (const name of ['default', 'kube-node-lease', 'kube-public', 'kube-system']) {
    await api.create(namespaces, { metadata: { name } }, apiServer);
  }
}

/** The API server itself. */
const apiServer = { username: 'system:apiserver', groups: ['system:masters', 'system:authenticated'] };
