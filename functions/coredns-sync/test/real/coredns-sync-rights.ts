import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import jsonPatch from 'fast-json-patch';
import { annotated } from '../../state/annotation.ts';
import { planMount } from '../../integration/mount.ts';
import { coreConfigMap, coreDeployment, corefile } from '../../sandbox/coredns.ts';
import { definitions } from '../kinds.ts';
import { rulesName } from '../world.ts';
import {
  changed,
  ingressChanged,
  manifest,
  rulesPath,
  statePath,
  systemConfigMaps,
  tell,
  theDeployment,
  ticking,
  type Changing,
} from './coredns-sync-site.ts';
import type { RealFunction } from '../../../../test/real/support/function.ts';
import { patchStatus, pathOf, type AnyManifest } from '../../../../test/support/manifests.ts';
import { waitUntil } from '../../../../test/real/parts/wait.ts';

/** Every feature that asks for a right, and rules in many ConfigMaps. */
export const everything = {
  COREDNS_AUTO_CONFIGURE: 'true',
  GATEWAY_CLASS: 'shared',
  GATEWAY_TARGET_CNAME: 'gateway.infra.svc.cluster.local',
  INGRESSROUTE_TARGET_CNAME: 'traefik.infra.svc.cluster.local',
  UNCLASSED: 'default',
  NAMESPACE_SELECTOR: 'kubernetes.io/metadata.name',
  NODELOCAL_MODE: 'stubdomains',
  TOUCH_PODS: 'true',
  VERIFY_RELOAD: 'true',
  MIN_WRITE_INTERVAL_MS: '0',
  RENDER_MODE: 'exact',
  SHARD_BYTES: '4096',
};

type Function = Pick<RealFunction, 'url'>;

/** All that the function may meet, on the sandbox or a real API server. */
export interface Stage extends AsyncDisposable {
  readonly site: Changing;
  /** Hosts for half of the shards are this many times a hundred. */
  readonly hundreds: number;
  readonly pod: Pod;
}

/** Makes the kinds of routes and a CoreDNS that says how its reloads went. */
export async function openStage(site: Changing, hundreds: number): Promise<Stage> {
  await using opened = new AsyncDisposableStack();
  const pod = opened.use(await startPod());
  for (const kind of definitions()) {
    await site.apply(kind as AnyManifest);
  }
  await waitUntil('the kinds', async () => {
    const lists = ['gateway.networking.k8s.io/v1/tlsroutes', 'traefik.io/v1alpha1/ingressroutes'];
    const found = await Promise.all(lists.map((list) => site.client.call('GET', `/apis/${list}`)));
    return found.every(({ code }) => code === 200);
  });
  const stage = opened.move();
  return { site, pod, hundreds, [Symbol.asyncDispose]: () => stage.disposeAsync() };
}

/** First there is no CoreDNS, then it comes with all that belongs to it, and routes of every kind. */
export async function meetCoreDns({ site, pod }: Stage, fn: Function, deployment: AnyManifest): Promise<void> {
  await tell(fn, ticking);
  await site.apply(manifest('v1', 'ConfigMap', coreConfigMap(corefile.replace(':9153', `:${pod.port}`))));
  for (const object of [deployment, ...surroundings]) {
    await site.apply(object);
  }
  await patchStatus(site.client, thePod, { phase: 'Running', podIP: '127.0.0.1', podIPs: [{ ip: '127.0.0.1' }] });
  for (const [index, [apiVersion, kind]] of routes.entries()) {
    await site.apply(routeOf(apiVersion, kind, `route-${index}`));
    await tell(fn, changed({ apiVersion, kind, namespace: 'shop', name: `route-${index}` }));
  }
  await tell(fn, { type: 'dev.kube-reflex.coredns-sync.preflight' });
}

/** More hosts than half of the shards hold. */
export async function putMany({ site, hundreds }: Stage, name: string): Promise<void> {
  for (let index = 0; index < hundreds; index += 1) {
    await site.put(
      `${name}-${index}`,
      Array.from({ length: 100 }, (_, at) => `${name}-${index}-${at}.example.com`),
    );
  }
}

export async function askForCleanup({ site }: Stage, fn: Function, state = statePath): Promise<void> {
  await site.merge(state, { metadata: { annotations: annotated({ cleanup: 'requested' }) } });
  await tell(fn, { type: 'dev.kube-reflex.coredns-sync.cleanup' });
}

/** The whole life: CoreDNS comes, hosts fill the shards, a reload fails, the function leaves, another cluster is met. */
export async function playEverything(stage: Stage, fn: Function): Promise<void> {
  await meetCoreDns(stage, fn, theDeployment);
  await spread(stage, fn);
  await rollBack(stage, fn);
  await cleanUp(stage, fn);
  await meetManagedCluster(stage, fn);
}

/** Hosts fill all shards, then all shards change; each time CoreDNS is seen to have taken them. */
async function spread(stage: Stage, fn: Function): Promise<void> {
  await putMany(stage, 'first');
  await tell(fn, ticking);
  await stage.site.rollOut();
  await tell(fn, ticking);
  await pretendAges(stage);
  await tell(fn, ticking);
  await putMany(stage, 'second');
  await tell(fn, ticking);
  await pretendAges(stage);
  await tell(fn, ticking);
}

async function rollBack({ site, pod }: Stage, fn: Function): Promise<void> {
  await site.put('last', ['last.example.com']);
  await tell(fn, ingressChanged('last'));
  pod.refuse();
  await tell(fn, ticking);
  const { data } = await site.read(statePath);
  mustContain(data?.['conditions'], 'RolledBack');
}

async function cleanUp(stage: Stage, fn: Function): Promise<void> {
  const { site } = stage;
  await askForCleanup(stage, fn);
  await site.rollOut();
  await tell(fn, ticking);
  const { code } = await site.client.call('GET', rulesPath);
  if (code !== 404) {
    throw new Error(`the rules are still there: ${code}`);
  }
}

/** One whose users add to the Corefile by a ConfigMap, as on AKS and k3s. */
async function meetManagedCluster({ site }: Stage, fn: Function): Promise<void> {
  const text = corefile.replace('errors\n', 'errors\n    import /etc/coredns/custom/*.override\n');
  await site.remove(statePath);
  await site.remove(pathOf(theDeployment));
  await site.apply(manifest('v1', 'ConfigMap', coreConfigMap(text)));
  await site.apply(systemObject('v1', 'ConfigMap', 'coredns-custom'));
  await tell(fn, ticking);
  const { data } = await site.read(`${systemConfigMaps}/coredns-custom`);
  mustContain(data?.['coredns-sync.override'], 'first-0-0.example.com');
}

/** The rules have been there for so long that every CoreDNS has read them. */
async function pretendAges({ site }: Stage): Promise<void> {
  const { items = [] } = await site.read(systemConfigMaps);
  const annotations = annotated({ 'changed-at': '2026-01-01T00:00:00.000Z' });
  const names = items.map(({ metadata }) => metadata?.name ?? '').filter((name) => name.startsWith(rulesName));
  await Promise.all(names.map((name) => site.merge(`${systemConfigMaps}/${name}`, { metadata: { annotations } })));
}

function mustContain(text: string | undefined, part: string): void {
  if (text?.includes(part) !== true) {
    throw new Error(`expected ${part} in ${text ?? 'nothing'}`);
  }
}

/** CoreDNS as it is once it shows so many ConfigMaps of rules. */
export function mounting(shards: number): AnyManifest {
  const step = planMount(structuredClone(coreDeployment), {
    volumeName: 'coredns-ingress-sync-volume',
    mountPath: '/etc/coredns/custom/coredns-ingress-sync',
    rulesConfigMap: rulesName,
    maxShards: shards,
  });
  const operations = (step?.operations ?? []).filter(({ op }) => op !== 'test');
  return manifest(
    'apps/v1',
    'Deployment',
    jsonPatch.applyPatch(structuredClone(coreDeployment), operations).newDocument,
  );
}

/** What CoreDNS says of its reloads. */
interface Pod extends AsyncDisposable {
  readonly port: number;
  /** It could not load its configuration. */
  readonly refuse: () => void;
}

async function startPod(): Promise<Pod> {
  let failed = 0;
  const server = createServer((_, response) => response.end(`coredns_reload_failed_total ${failed}\n`));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    refuse: () => (failed += 1),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

const thePod = {
  ...systemObject('v1', 'Pod', 'coredns-0', { 'k8s-app': 'kube-dns' }),
  spec: { containers: [{ name: 'coredns', image: 'coredns' }] },
};

const surroundings = [
  systemObject('v1', 'ConfigMap', 'node-local-dns'),
  {
    ...systemObject('v1', 'Service', 'kube-dns-upstream'),
    spec: { ports: [{ port: 53, protocol: 'UDP' }], selector: { 'k8s-app': 'kube-dns' } },
  },
  systemObject('v1', 'ServiceAccount', 'default'),
  thePod,
];

function systemObject(
  apiVersion: string,
  kind: string,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): AnyManifest {
  return manifest(apiVersion, kind, { metadata: { namespace: 'kube-system', name, labels } });
}

const routes = [
  ['gateway.networking.k8s.io/v1', 'HTTPRoute'],
  ['gateway.networking.k8s.io/v1', 'GRPCRoute'],
  ['gateway.networking.k8s.io/v1', 'TLSRoute'],
  ['traefik.io/v1alpha1', 'IngressRoute'],
] as const;

function routeOf(apiVersion: string, kind: string, name: string): AnyManifest {
  const parentRef = { name: 'edge' };
  return {
    ...manifest(apiVersion, kind, { metadata: { namespace: 'shop', name } }),
    spec: {
      hostnames: [`${name}.example.com`],
      parentRefs: [parentRef],
      routes: [{ kind: 'Rule', match: `Host(\`${name}.example.com\`)` }],
    },
    status: { parents: [{ parentRef, conditions: [{ type: 'Accepted', status: 'True' }] }] },
  };
}
