import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CompanionOptions } from '../../../lib/cli/start/companion.ts';
import { configMaps, deployments, namespaces, services, type ConfigMap } from '../../../lib/kube/model/resource.ts';
import type { InternalApi } from '../../../lib/sandbox/model/internal.ts';
import { controller, coreConfigMap, coreDeployment, corefile } from './coredns.ts';
import { findCoreDns, startCoreDns } from './server.ts';

const rulesName = 'coredns-ingress-sync-rewrite-rules';
const rulesKey = 'dynamic.server';

/**
 * CoreDNS in small: its ConfigMap and Deployment, the Service that hosts lead to, and, where its program is at hand, a server
 * that imports the rules as they are written, so that hosts can be asked for.
 */
export async function startCompanion({ api, log }: CompanionOptions): Promise<() => Promise<void>> {
  await api.create(configMaps, coreConfigMap(corefile));
  await api.create(deployments, coreDeployment);
  await api.create(namespaces, { metadata: { name: controller.metadata?.namespace ?? '' } });
  await api.create(services, controller);
  const program = await findCoreDns();
  if (program === undefined) {
    log.info('no CoreDNS at hand: with `coredns` on the PATH there would be one to ask');
    return () => Promise.resolve();
  }
  const directory = await mkdtemp(join(tmpdir(), 'coredns-sync-'));
  const server = await startCoreDns(program, directory);
  log.info({ program }, `CoreDNS answers: dig @127.0.0.1 -p ${server.port} shop.example.com +short`);
  const stop = mirrorRules(api, directory, () => log.info('CoreDNS has new rules within two seconds'));
  return async () => {
    stop();
    await server.stop();
    await rm(directory, { recursive: true });
  };
}

/** What a kubelet does for a volume: the file changes at once as a whole. */
function mirrorRules(api: InternalApi, directory: string, onChange: () => void): () => void {
  let last = '';
  let writing = Promise.resolve();
  return api.subscribe(configMaps, ({ object }) => {
    const text = (object as ConfigMap).data?.[rulesKey] ?? '';
    if (object.metadata?.name === rulesName && text !== last) {
      last = text;
      writing = writing.then(async () => {
        await writeFile(join(directory, 'next'), text);
        await rename(join(directory, 'next'), join(directory, rulesKey));
        onChange();
      });
    }
  });
}
