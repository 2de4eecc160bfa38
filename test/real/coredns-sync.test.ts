import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Config } from '../../functions/coredns-sync/config.ts';
import definition from '../../functions/coredns-sync/index.ts';
import { coreConfigMap, coreDeployment, corefile } from '../../functions/coredns-sync/sandbox/coredns.ts';
import { permissionsOf } from '../../functions/coredns-sync/permissions.ts';
import { parseConfig } from '../../lib/function/config.ts';
import type { Definition } from '../../lib/function/define.ts';
import { standardSite } from '../../lib/manifests/manifest.ts';
import { createClient, type Body, type Client } from '../contract/api/client.ts';
import { expectCode } from '../contract/api/scratch.ts';
import { definitions } from '../coredns-sync/kinds.ts';
import { ingressOf, rulesName } from '../coredns-sync/world.ts';
import { binaryEvent, send } from '../http.ts';
import { sourcesOf } from './adapter.ts';
import { readAudit, type AuditEvent } from './audit.ts';
import { startCluster, type Cluster } from './cluster.ts';
import { openEventPath } from './event-path.ts';
import { installRights, startFunction, usernameOf, type RealFunction, type Shipped } from './function.ts';
import { applyManifest, patchStatus, type AnyManifest } from './manifests.ts';
import { inParallel } from '../../lib/work/in-parallel.ts';
import { waitUntil } from './wait.ts';

const patience = 240_000;
const shipped: Shipped = { definition, folder: join(import.meta.dirname, '../../functions/coredns-sync') };
const user = usernameOf('coredns-sync', 'events');
const rulesPath = `/api/v1/namespaces/kube-system/configmaps/${rulesName}`;
const statePath = `/api/v1/namespaces/${standardSite.namespace}/configmaps/coredns-sync-state`;

describe('coredns-sync on a real API server', () => {
  const running = new AsyncDisposableStack();
  let cluster: Cluster;
  let client: Client;

  beforeAll(async () => {
    cluster = running.use(await startCluster());
    client = createClient(cluster.access);
    running.defer(() => client.close());
    for (const name of ['shop', 'ingress-nginx']) {
      await apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
    }
    await apply(manifest('v1', 'ConfigMap', coreConfigMap(corefile)));
    await installRights(cluster, shipped);
  }, patience);
  afterAll(() => running.disposeAsync());

  function apply(object: AnyManifest): Promise<Body> {
    return applyManifest(client, object);
  }

  function createIngress(name: string, hosts: readonly string[]): Promise<Body> {
    return apply(manifest('networking.k8s.io/v1', 'Ingress', ingressOf(name, hosts)));
  }

  /** The hosts of all exact rules and patterns. */
  async function served(): Promise<number> {
    const { metadata } = (await client.call('GET', rulesPath)).body;
    return Number(metadata?.annotations?.['coredns-sync.kube-reflex.dev/hosts'] ?? 0);
  }

  function calls(): readonly AuditEvent[] {
    return readAudit(cluster).filter((event) => event.user.username === user);
  }

  it(
    'a thousand Ingresses in ten seconds, by the real adapter: few flushes, quick answers, soon converged',
    async () => {
      const sources = sourcesOf(definition).filter(({ spec }) => spec.resources.some(({ kind }) => kind === 'Ingress'));
      await using path = await openEventPath(cluster, shipped, { sources });
      await createIngress('first', ['first.example.com']);
      await waitUntil('the first host', async () => (await served()) === 1);
      const names = Array.from({ length: 1000 }, (_, index) => `burst-${index}`);
      const before = rulesWrites(calls()).length;

      const started = performance.now();
      await inParallel(4, names, async (name) => {
        const due = started + 10 * Number(name.slice(6));
        await new Promise((resolve) => setTimeout(resolve, Math.max(0, due - performance.now())));
        await createIngress(name, [`${name}.example.com`]);
      });
      const created = performance.now();
      await waitUntil('all hosts', async () => (await served()) === names.length + 1);
      const converged = performance.now();

      const told = path.relay.passed.filter(({ headers }) => String(headers['ce-name']).startsWith('burst-'));
      const mean = told.reduce((sum, { ms }) => sum + ms, 0) / told.length;
      const flushes = rulesWrites(calls()).length - before;
      process.stderr.write(
        `burst: created in ${Math.round(created - started)} ms, converged ${Math.round(converged - created)} ms later, ` +
          `${flushes} flushes, mean answer ${mean.toFixed(1)} ms\n`,
      );
      // A machine that can't create a thousand objects in ten seconds is that much slower in all of it.
      const slowness = Math.max(1, (created - started) / 10_000);
      expect(flushes).toBeLessThanOrEqual(20 * slowness);
      expect(converged - created).toBeLessThan(5 * 5_000);
      expect(mean).toBeLessThan(5 * 10);
      expect(new Set(told.map(({ status }) => status))).toEqual(new Set([204]));
    },
    patience,
  );

  it(
    'a tick without drift writes nothing, and no event moves more than 8 calls',
    async () => {
      const fn = await startFunction(cluster, shipped, { port: 0 });
      await tick(fn);
      await waitUntil('the summary', async () => {
        const { data } = (await client.call('GET', statePath)).body;
        return (data?.['summary'] ?? '').includes('"hosts": 1001');
      });
      const quiet = calls().length;
      await tick(fn);
      const written = calls().slice(quiet).filter(isWrite);
      await createIngress('one-more', ['one-more.example.com']);
      const before = await settled();
      await tell(fn, 'one-more');
      const cost = (await settled()) - before;

      expect(written.map(({ verb, requestURI }) => `${verb} ${requestURI}`)).toEqual([]);
      expect(cost).toBeGreaterThan(2);
      expect(cost).toBeLessThanOrEqual(8);
      await fn.running.stop();
    },
    patience,
  );

  /** How many calls the function has made, once the audit log holds all of them. */
  async function settled(): Promise<number> {
    let count = -1;
    await waitUntil('a quiet audit log', async () => {
      const last = count;
      count = calls().length;
      await new Promise((resolve) => setTimeout(resolve, 300));
      return last === count;
    });
    return count;
  }

  it('was never refused a right', () => {
    const refused = calls().filter(({ responseStatus }) => responseStatus?.code === 403);

    expect(refused.map(({ verb, requestURI }) => `${verb} ${requestURI}`)).toEqual([]);
  });

  it(
    'with every feature on, it was granted exactly what it used',
    async () => {
      const environment = everything;
      const config = parseConfig(Config, environment);
      const granted: Definition = { ...definition, permissions: () => permissionsOf(config) };
      for (const kind of definitions()) {
        await apply(kind as AnyManifest);
      }
      await waitUntil('the kinds', async () => {
        const lists = ['gateway.networking.k8s.io/v1/tlsroutes', 'traefik.io/v1alpha1/ingressroutes'];
        const codes = await Promise.all(lists.map(async (list) => (await client.call('GET', `/apis/${list}`)).code));
        return codes.every((code) => code === 200);
      });
      await installRights(cluster, { ...shipped, definition: granted });
      const before = await settled();
      const fn = await startFunction(cluster, shipped, { port: 1, environment });
      await exercise(fn);
      await fn.running.stop();
      await settled();

      const used = calls().slice(before);
      expect(
        used.filter(({ responseStatus }) => responseStatus?.code === 403).map(({ requestURI }) => requestURI),
      ).toEqual([]);
      const rights = permissionsOf(config).flatMap(({ groups, resources, verbs }) =>
        resources.flatMap((resource) => verbs.map((verb) => `${verb} ${groups[0] ?? ''}/${resource}`)),
      );
      const everybody = 'create authorization.k8s.io/selfsubjectaccessreviews';
      expect([...new Set(used.map(usedRight))].filter((right) => right !== everybody).sort()).toEqual(
        [...new Set(rights)].sort(),
      );
    },
    patience,
  );

  /** Everything that the features do, once. */
  async function exercise(fn: RealFunction): Promise<void> {
    await tick(fn); // no Deployment yet: the function looks for one by label
    await apply(manifest('apps/v1', 'Deployment', coreDeployment));
    await apply(manifest('v1', 'ConfigMap', { metadata: { namespace: 'kube-system', name: 'node-local-dns' } }));
    await apply({
      ...manifest('v1', 'Service', { metadata: { namespace: 'kube-system', name: 'kube-dns' } }),
      spec: { ports: [{ port: 53, protocol: 'UDP' }], selector: { 'k8s-app': 'kube-dns' } },
    });
    await apply(manifest('v1', 'ServiceAccount', { metadata: { namespace: 'kube-system', name: 'default' } }));
    await apply({
      ...manifest('v1', 'Pod', {
        metadata: { namespace: 'kube-system', name: 'coredns-0', labels: { 'k8s-app': 'kube-dns' } },
      }),
      spec: { containers: [{ name: 'coredns', image: 'coredns' }] },
    });
    for (const [index, [apiVersion, kind]] of routes.entries()) {
      await apply(routeOf(apiVersion, kind, `route-${index}`));
      expect(
        (await send(fn.url, eventOf({ apiVersion, kind, namespace: 'shop', name: `route-${index}` }))).status,
      ).toBe(204);
    }
    await tick(fn);
    await rollOut();
    await tick(fn);
    await createIngress('unclassed', ['unclassed.example.com']);
    await tell(fn, 'unclassed');
    await send(fn.url, binaryEvent({ type: 'dev.kube-reflex.coredns-sync.preflight' }));
    const annotations = { 'coredns-sync.kube-reflex.dev/cleanup': 'requested' };
    const headers = { 'content-type': 'application/merge-patch+json' };
    expectCode(200, await client.call('PATCH', statePath, { body: { metadata: { annotations } }, headers }));
    await send(fn.url, binaryEvent({ type: 'dev.kube-reflex.coredns-sync.cleanup' }));
    await rollOut();
    await tick(fn);
    expect((await client.call('GET', rulesPath)).code).toBe(404);
  }

  async function rollOut(): Promise<void> {
    const object = manifest('apps/v1', 'Deployment', { metadata: { namespace: 'kube-system', name: 'coredns' } });
    const { metadata } = expectCode(
      200,
      await client.call('GET', '/apis/apps/v1/namespaces/kube-system/deployments/coredns'),
    );
    const counts = { replicas: 2, updatedReplicas: 2, readyReplicas: 2, availableReplicas: 2 };
    await patchStatus(client, object, { observedGeneration: metadata?.generation ?? 1, ...counts });
  }
});

const everything = {
  COREDNS_AUTO_CONFIGURE: 'true',
  GATEWAY_CLASS: 'shared',
  GATEWAY_TARGET_CNAME: 'gateway.infra.svc.cluster.local',
  INGRESSROUTE_TARGET_CNAME: 'traefik.infra.svc.cluster.local',
  UNCLASSED: 'default',
  NAMESPACE_SELECTOR: 'kubernetes.io/metadata.name',
  NODELOCAL_MODE: 'stubdomains',
  TOUCH_PODS: 'true',
  MIN_WRITE_INTERVAL_MS: '0',
};

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

function manifest(apiVersion: string, kind: string, object: object): AnyManifest {
  return { ...object, apiVersion, kind } as AnyManifest;
}

interface About {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
}

function eventOf(about: About): ReturnType<typeof binaryEvent> {
  return binaryEvent({ type: 'dev.knative.apiserver.ref.update', ...about });
}

async function tell(fn: RealFunction, name: string): Promise<void> {
  const about = { apiVersion: 'networking.k8s.io/v1', kind: 'Ingress', namespace: 'shop', name };
  expect((await send(fn.url, eventOf(about))).status).toBe(204);
}

async function tick({ url }: RealFunction): Promise<void> {
  expect((await send(url, binaryEvent({ type: 'dev.knative.sources.ping' }))).status).toBe(204);
}

function isWrite({ verb }: AuditEvent): boolean {
  return verb !== 'get' && verb !== 'list';
}

function rulesWrites(events: readonly AuditEvent[]): readonly AuditEvent[] {
  return events.filter((event) => isWrite(event) && event.objectRef?.name === rulesName);
}

function usedRight({ verb, objectRef }: AuditEvent): string {
  return `${verb} ${objectRef?.apiGroup ?? ''}/${objectRef?.resource ?? ''}`;
}
