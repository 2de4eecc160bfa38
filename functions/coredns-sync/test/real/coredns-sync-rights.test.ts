import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import jsonPatch from 'fast-json-patch';
import { annotated } from '../../state/annotation.ts';
import { planMount } from '../../integration/mount.ts';
import { coreConfigMap, coreDeployment, corefile } from '../../sandbox/coredns.ts';
import type { Environment } from '../../../../lib/function/config.ts';
import { definitions } from '../kinds.ts';
import { rulesName } from '../world.ts';
import { settledAudit } from '../../../../test/real/parts/audit.ts';
import {
  changed,
  ingressChanged,
  manifest,
  openCoreDnsSyncSite,
  rulesPath,
  shippedWith,
  statePath,
  systemConfigMaps,
  tell,
  theDeployment,
  ticking,
  type CoreDnsSyncSite,
} from './coredns-sync-site.ts';
import { refusalOf } from './dns/parse.ts';
import {
  installRights,
  startFunction,
  type RealFunction,
  type Shipped,
} from '../../../../test/real/support/function.ts';
import { patchStatus, pathOf, type AnyManifest } from '../../../../test/support/manifests.ts';
import { grantedTo, refusedTo, usedBy } from '../../../../test/real/support/rights.ts';
import { followRules, type Followed } from './rules-watch.ts';
import { waitUntil } from '../../../../test/real/parts/wait.ts';

const patience = 300_000;

/** Every feature that asks for a right, and rules in as many ConfigMaps as there can be: each of them is named. */
const everything = {
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
  MAX_SHARDS: '128',
};

/** The same, and CoreDNS gets nothing of it. */
const preview = { ...everything, RENDER_ONLY: 'true' };

describe('coredns-sync with every feature on, under its shipped rights', () => {
  const running = new AsyncDisposableStack();
  const shipped = shippedWith(everything);
  let stage: Stage;
  let followed: Followed;

  beforeAll(async () => {
    stage = running.use(await openStage(shipped));
    followed = running.use(await followRules(stage.site.client));
  }, patience);
  afterAll(() => running.disposeAsync());

  it(
    'uses every verb that it is granted, on every object that is named, and no other',
    async () => {
      const { site, meetCoreDns } = stage;
      const fn = await startFunction(site.cluster, shipped, { port: 0, environment: everything });
      await meetCoreDns(fn, theDeployment);
      await spread(fn);
      await rollBack(fn);
      await cleanUp(fn);
      await meetManagedCluster(fn);
      await fn.running.stop('SIGTERM');

      await expectExactRights(site, shipped, everything);
    },
    patience,
  );

  it(
    'CS-45 CoreDNS takes every text that was written meanwhile',
    async () => {
      const texts = await followed.texts();

      process.stderr.write(`${texts.length} texts\n`);
      expect(texts.length).toBeGreaterThan(Number(everything.MAX_SHARDS));
      expect(await refusalOf(texts)).toBeUndefined();
    },
    patience,
  );

  /** Hosts fill all shards, then all shards change; each time CoreDNS is seen to have taken them. */
  async function spread(fn: RealFunction): Promise<void> {
    const { site, putMany } = stage;
    await putMany('first');
    await tell(fn, ticking);
    await site.rollOut();
    await tell(fn, ticking);
    await pretendAges();
    await tell(fn, ticking);
    await putMany('second');
    await tell(fn, ticking);
    await pretendAges();
    await tell(fn, ticking);
  }

  async function rollBack(fn: RealFunction): Promise<void> {
    const { site, pod } = stage;
    await site.put('last', ['last.example.com']);
    await tell(fn, ingressChanged('last'));
    pod.refuse();
    await tell(fn, ticking);
    const { data } = await site.read(statePath);
    expect(data?.['conditions']).toContain('RolledBack');
  }

  async function cleanUp(fn: RealFunction): Promise<void> {
    const { site, askForCleanup } = stage;
    await askForCleanup(fn);
    await site.rollOut();
    await tell(fn, ticking);
    expect((await site.client.call('GET', rulesPath)).code).toBe(404);
  }

  /** One whose users add to the Corefile by a ConfigMap, as on AKS and k3s. */
  async function meetManagedCluster(fn: RealFunction): Promise<void> {
    const { site } = stage;
    const text = corefile.replace('errors\n', 'errors\n    import /etc/coredns/custom/*.override\n');
    await site.remove(statePath);
    await site.remove(pathOf(theDeployment));
    await site.apply(manifest('v1', 'ConfigMap', coreConfigMap(text)));
    await site.apply(systemObject('v1', 'ConfigMap', 'coredns-custom'));
    await tell(fn, ticking);
    const { data } = await site.read(`${systemConfigMaps}/coredns-custom`);
    expect(data?.['coredns-sync.override']).toContain('first-0-0.example.com');
  }

  /** The rules have been there for so long that every CoreDNS has read them. */
  async function pretendAges(): Promise<void> {
    const { site } = stage;
    const { items = [] } = await site.read(systemConfigMaps);
    const annotations = annotated({ 'changed-at': '2026-01-01T00:00:00.000Z' });
    const names = items.map(({ metadata }) => metadata?.name ?? '').filter((name) => name.startsWith(rulesName));
    await Promise.all(names.map((name) => site.merge(`${systemConfigMaps}/${name}`, { metadata: { annotations } })));
  }
});

describe('coredns-sync with RENDER_ONLY and every feature on, under its shipped rights', () => {
  it(
    'uses every verb that it is granted and no other, and leaves CoreDNS and its rules alone',
    async () => {
      const shipped = shippedWith(preview);
      await using stage = await openStage(shipped);
      const { site, meetCoreDns, putMany, askForCleanup } = stage;
      const fn = await startFunction(site.cluster, shipped, { port: 0, environment: preview });
      await meetCoreDns(fn, mounting(Number(preview.MAX_SHARDS)));
      await site.rollOut();
      await site.put('before', ['before.example.com']);
      await tell(fn, ingressChanged('before'));
      const before = await observed((name) => !name.startsWith(`${rulesName}-preview`));
      await putMany('first');
      await tell(fn, ticking);
      const { data } = await site.read(`${statePath}-preview`);
      await putMany('second');
      await tell(fn, ticking);
      await askForCleanup(fn, `${statePath}-preview`);
      await fn.running.stop('SIGTERM');

      expect(JSON.parse(data?.['preview'] ?? '{}')).toMatchObject({ adds: { count: 2002 }, removes: { count: 0 } });
      expect(await observed()).toEqual(before);
      await expectExactRights(site, shipped, preview);

      /** All that CoreDNS reads, and all that could be rules. */
      async function observed(isOther = (_name: string): boolean => true): Promise<unknown> {
        const { items = [] } = await site.read(systemConfigMaps);
        const others = items.filter(({ metadata }) => isOther(metadata?.name ?? ''));
        return [await site.read(pathOf(theDeployment)), others];
      }
    },
    patience,
  );
});

async function expectExactRights(site: CoreDnsSyncSite, { definition }: Shipped, settings: Environment): Promise<void> {
  const audit = await settledAudit(site.cluster, site.client);
  expect(refusedTo(definition, 'events', audit)).toEqual([]);
  expect(usedBy(definition, 'events', audit, settings)).toEqual(grantedTo(definition, 'events', settings));
}

/** A cluster with all that the function may meet, and its rights. */
interface Stage extends AsyncDisposable {
  readonly site: CoreDnsSyncSite;
  readonly pod: Pod;
  /** First there is no CoreDNS, then it comes with all that belongs to it, and routes of every kind. */
  readonly meetCoreDns: (fn: RealFunction, deployment: AnyManifest) => Promise<void>;
  /** More hosts than half of the shards hold. */
  readonly putMany: (name: string) => Promise<void>;
  readonly askForCleanup: (fn: RealFunction, state?: string) => Promise<void>;
}

async function openStage(shipped: Shipped): Promise<Stage> {
  await using opened = new AsyncDisposableStack();
  const site = opened.use(await openCoreDnsSyncSite());
  const pod = opened.use(await startPod());
  for (const kind of definitions()) {
    await site.apply(kind as AnyManifest);
  }
  await waitUntil('the kinds', async () => {
    const lists = ['gateway.networking.k8s.io/v1/tlsroutes', 'traefik.io/v1alpha1/ingressroutes'];
    const found = await Promise.all(lists.map((list) => site.client.call('GET', `/apis/${list}`)));
    return found.every(({ code }) => code === 200);
  });
  await installRights(site.cluster, shipped);
  const stage = opened.move();
  return {
    site,
    pod,
    meetCoreDns: async (fn, deployment) => {
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
    },
    putMany: async (name) => {
      for (let index = 0; index < 20; index += 1) {
        await site.put(
          `${name}-${index}`,
          Array.from({ length: 100 }, (_, at) => `${name}-${index}-${at}.example.com`),
        );
      }
    },
    askForCleanup: async (fn, state = statePath) => {
      await site.merge(state, { metadata: { annotations: annotated({ cleanup: 'requested' }) } });
      await tell(fn, { type: 'dev.kube-reflex.coredns-sync.cleanup' });
    },
    [Symbol.asyncDispose]: () => stage.disposeAsync(),
  };
}

/** CoreDNS as it is once it shows so many ConfigMaps of rules. */
function mounting(shards: number): AnyManifest {
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
