import { readFile } from 'node:fs/promises';
import https from 'node:https';
import { CoreV1Api, KubeConfig } from '@kubernetes/client-node';
import { clusterAccess } from '../../lib/kube/access.ts';
import { createKube } from '../../lib/kube/client.ts';
import { configMaps } from '../../lib/kube/model/resource.ts';
import { createTransport } from '../../lib/kube/transport.ts';
import { createLog } from '../../lib/base/log.ts';
import { median, ratio, type Figure } from './measure/figure.ts';
import { openSite, type Site } from './measure/site.ts';
import { inTurns } from './measure/turns.ts';

export const about = 'one read of a ConfigMap, against raw https and against the client package as it comes';

const place = { namespace: 'default', name: 'host-census' };
const calls = 40;

interface Cost {
  readonly wallMs: number;
  readonly cpuMs: number;
}

export async function run(): Promise<readonly Figure[]> {
  const site = await openSite();
  const transport = createTransport(clusterAccess(site.kubeconfigFile));
  const kube = createKube({
    transport,
    log: createLog({ level: 'silent', readable: false }),
    fieldManager: 'bench',
    now: () => new Date(),
  });
  const raw = await rawReader(site);
  const config = new KubeConfig();
  config.loadFromFile(site.kubeconfigFile);
  const client = config.makeApiClient(CoreV1Api);
  try {
    const costs = await inTurns(
      {
        raw: () => measure(raw.read),
        ours: () => measure(() => kube.get(configMaps, place)),
        package: () => measure(() => client.readNamespacedConfigMap(place)),
      },
      { rounds: 25, warmUp: 5 },
    );
    return [
      figure('our client / raw kept https', 'wallMs', [costs.ours, costs.raw], { atMost: 1.3 }),
      figure('our client / raw kept https', 'cpuMs', [costs.ours, costs.raw]),
      figure('client package / our client', 'wallMs', [costs.package, costs.ours], { atLeast: 5 }),
      figure('client package / our client', 'cpuMs', [costs.package, costs.ours]),
    ];
  } finally {
    raw.close();
    transport.close();
    await site.close();
  }
}

async function measure(call: () => Promise<unknown>): Promise<Cost> {
  const started = performance.now();
  const before = process.cpuUsage();
  for (let done = 0; done < calls; done += 1) {
    await call();
  }
  const { user, system } = process.cpuUsage(before);
  return { wallMs: (performance.now() - started) / calls, cpuMs: (user + system) / 1000 / calls };
}

/** What a careful program without any library would do. */
async function rawReader({ apiUrl, caFile }: Site): Promise<{ read: () => Promise<unknown>; close: () => void }> {
  const agent = new https.Agent({ keepAlive: true, ca: await readFile(caFile) });
  const url = new URL(`/api/v1/namespaces/${place.namespace}/configmaps/${place.name}`, apiUrl);
  const headers = { accept: 'application/json', authorization: 'Bearer bench' };
  return {
    close: () => agent.destroy(),
    read: () =>
      new Promise((resolve, reject) => {
        const request = https.request(url, { agent, headers }, (response) => {
          const chunks: Buffer[] = [];
          response.on('data', (chunk: Buffer) => chunks.push(chunk));
          response.on('end', () => resolve(JSON.parse(Buffer.concat(chunks).toString())));
        });
        request.on('error', reject);
        request.end();
      }),
  };
}

function figure(
  what: string,
  key: keyof Cost,
  [costs, base]: readonly [readonly Cost[], readonly Cost[]],
  bar?: Figure['bar'],
): Figure {
  const [own, floor] = [costs, base].map((each) => each.map((cost) => cost[key])) as [number[], number[]];
  return {
    what: `${what}, ${key === 'wallMs' ? 'wall' : 'CPU'}`,
    value: ratio(own, floor),
    unit: '×',
    ...(bar === undefined ? {} : { bar }),
    measured: `${median(own).toFixed(2)} ms / ${median(floor).toFixed(2)} ms`,
  };
}
