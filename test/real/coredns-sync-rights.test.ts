import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { annotated } from '../../functions/coredns-sync/state/annotation.ts';
import { coreConfigMap, corefile } from '../../functions/coredns-sync/sandbox/coredns.ts';
import { definitions } from '../coredns-sync/kinds.ts';
import { rulesName } from '../coredns-sync/world.ts';
import { settledAudit } from './audit.ts';
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
import { installRights, startFunction, type RealFunction } from './function.ts';
import { patchStatus, pathOf, type AnyManifest } from './manifests.ts';
import { grantedTo, refusedTo, usedBy } from './rights.ts';
import { followRules, type Followed } from './rules-watch.ts';
import { waitUntil } from './wait.ts';

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
const shipped = shippedWith(everything);

describe('coredns-sync with every feature on, under its shipped rights', () => {
  const running = new AsyncDisposableStack();
  let site: CoreDnsSyncSite;
  let pod: Pod;
  let followed: Followed;

  beforeAll(async () => {
    site = running.use(await openCoreDnsSyncSite());
    followed = running.use(await followRules(site.client));
    pod = running.use(await startPod());
    for (const kind of definitions()) {
      await site.apply(kind as AnyManifest);
    }
    await waitUntil('the kinds', async () => {
      const lists = ['gateway.networking.k8s.io/v1/tlsroutes', 'traefik.io/v1alpha1/ingressroutes'];
      const found = await Promise.all(lists.map((list) => site.client.call('GET', `/apis/${list}`)));
      return found.every(({ code }) => code === 200);
    });
    await installRights(site.cluster, shipped);
  }, patience);
  afterAll(() => running.disposeAsync());

  it(
    'uses every verb that it is granted, on every object that is named, and no other',
    async () => {
      const fn = await startFunction(site.cluster, shipped, { port: 0, environment: everything });
      await meetCoreDns(fn);
      await spread(fn);
      await rollBack(fn);
      await cleanUp(fn);
      await meetManagedCluster(fn);
      await fn.running.stop('SIGTERM');

      const audit = await settledAudit(site.cluster, site.client);
      expect(refusedTo(shipped.definition, 'events', audit)).toEqual([]);
      expect(usedBy(shipped.definition, 'events', audit, everything)).toEqual(
        grantedTo(shipped.definition, 'events', everything),
      );
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

  /** First there is none, then it comes with all that belongs to it, and routes of every kind. */
  async function meetCoreDns(fn: RealFunction): Promise<void> {
    await tell(fn, ticking);
    await site.apply(manifest('v1', 'ConfigMap', coreConfigMap(corefile.replace(':9153', `:${pod.port}`))));
    for (const object of [theDeployment, ...surroundings]) {
      await site.apply(object);
    }
    await patchStatus(site.client, thePod, { phase: 'Running', podIP: '127.0.0.1', podIPs: [{ ip: '127.0.0.1' }] });
    for (const [index, [apiVersion, kind]] of routes.entries()) {
      await site.apply(routeOf(apiVersion, kind, `route-${index}`));
      await tell(fn, changed({ apiVersion, kind, namespace: 'shop', name: `route-${index}` }));
    }
    await tell(fn, { type: 'dev.kube-reflex.coredns-sync.preflight' });
  }

  /** Hosts fill all shards, then all shards change; each time CoreDNS is seen to have taken them. */
  async function spread(fn: RealFunction): Promise<void> {
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
    await site.put('last', ['last.example.com']);
    await tell(fn, ingressChanged('last'));
    pod.refuse();
    await tell(fn, ticking);
    const { data } = await site.read(statePath);
    expect(data?.['conditions']).toContain('RolledBack');
  }

  async function cleanUp(fn: RealFunction): Promise<void> {
    await site.merge(statePath, { metadata: { annotations: annotated({ cleanup: 'requested' }) } });
    await tell(fn, { type: 'dev.kube-reflex.coredns-sync.cleanup' });
    await site.rollOut();
    await tell(fn, ticking);
    expect((await site.client.call('GET', rulesPath)).code).toBe(404);
  }

  /** One whose users add to the Corefile by a ConfigMap, as on AKS and k3s. */
  async function meetManagedCluster(fn: RealFunction): Promise<void> {
    const text = corefile.replace('errors\n', 'errors\n    import /etc/coredns/custom/*.override\n');
    await site.remove(statePath);
    await site.remove(pathOf(theDeployment));
    await site.apply(manifest('v1', 'ConfigMap', coreConfigMap(text)));
    await site.apply(systemObject('v1', 'ConfigMap', 'coredns-custom'));
    await tell(fn, ticking);
    const { data } = await site.read(`${systemConfigMaps}/coredns-custom`);
    expect(data?.['coredns-sync.override']).toContain('first-0-0.example.com');
  }

  /** More hosts than half of the shards hold. */
  async function putMany(name: string): Promise<void> {
    for (let index = 0; index < 20; index += 1) {
      await site.put(
        `${name}-${index}`,
        Array.from({ length: 100 }, (_, at) => `${name}-${index}-${at}.example.com`),
      );
    }
  }

  /** The rules have been there for so long that every CoreDNS has read them. */
  async function pretendAges(): Promise<void> {
    const { items = [] } = await site.read(systemConfigMaps);
    const annotations = annotated({ 'changed-at': '2026-01-01T00:00:00.000Z' });
    const names = items.map(({ metadata }) => metadata?.name ?? '').filter((name) => name.startsWith(rulesName));
    await Promise.all(names.map((name) => site.merge(`${systemConfigMaps}/${name}`, { metadata: { annotations } })));
  }
});

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
