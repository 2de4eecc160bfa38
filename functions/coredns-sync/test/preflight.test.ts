import { afterEach, describe, expect, it } from '@jest/globals';
import type { Call } from '../../../lib/kube/client.ts';
import { configMaps, deployments, type Deployment } from '../../../lib/kube/model/resource.ts';
import { installKinds, serveOnlyAs } from './kinds.ts';
import { openWorld, rulesName, until, type Environment, type World } from './world.ts';
import { binaryEvent, send } from '../../../test/support/http.ts';
import { turnedClock } from '../../../lib/sandbox/test/turned-clock.ts';

let world: World;

async function open(environment: Environment = {}): Promise<void> {
  world = await openWorld({ MIN_WRITE_INTERVAL_MS: '0', ...environment });
}

afterEach(async () => world[Symbol.asyncDispose]());

interface Check {
  readonly check: string;
  readonly status: string;
  readonly message: string;
}

async function preflight({ url } = world.app): Promise<readonly Check[]> {
  return (await (await fetch(new URL('/preflight', url))).json()) as readonly Check[];
}

async function checkOf(name: string, app = world.app): Promise<Check | undefined> {
  return (await preflight(app)).find(({ check }) => check === name);
}

function reviews(): readonly Call[] {
  return world.calls.filter(({ resource }) => resource.startsWith('selfsubjectaccessreviews'));
}

describe('preflight', () => {
  it('says whether the cluster is ready, by route and into the state', async () => {
    await open();
    const checks = await preflight();
    const { status } = await send(world.app.url, binaryEvent({ type: 'dev.kube-reflex.coredns-sync.preflight' }));

    expect(checks).toContainEqual({ check: 'deployment', status: 'ok', message: 'CoreDNS 1.12.1' });
    for (const check of ['rights', 'MountConflict', 'NoReload', 'BypassedByNodeLocal']) {
      expect(checks).toContainEqual(expect.objectContaining({ check, status: 'ok' }));
    }
    expect(checks.filter((each) => each.status !== 'ok').map(({ check }) => check)).toEqual([
      'NotConfigured',
      'TargetMissing',
    ]);
    expect(status).toBe(204);
    expect(JSON.parse(world.state()?.data?.['preflight'] ?? '[]')).toEqual(checks);
  });

  it('knows its rights in a dry run too, which writes nothing', async () => {
    await open({ DRY_RUN: 'true' });

    expect(await checkOf('rights')).toMatchObject({ status: 'ok' });
  });

  it('asks for every right by itself: of each name, in each namespace, and not again at once', async () => {
    await open({ WATCH_NAMESPACES: 'a,b' });
    const clock = turnedClock();
    const app = await world.another({}, { now: () => clock.now() });
    await checkOf('rights', app);
    const asked = reviews();

    expect(asked.length).toBeGreaterThan(128 * 3);
    expect(await checkOf('rights', app)).toMatchObject({ message: `all ${asked.length} that it asks for are granted` });
    expect(reviews()).toEqual(asked);
    clock.turn(15_000);
    await checkOf('rights', app);
    expect(reviews()).toHaveLength(2 * asked.length);
  });

  it('asks for no right twice while an answer is still under way, however long that takes', async () => {
    await open();
    const clock = turnedClock();
    const app = await world.another({}, { now: () => clock.now() });
    const first = checkOf('rights', app);
    await until(() => reviews().length > 0);
    clock.turn(60_000);
    const second = await checkOf('rights', app);

    expect(second).toEqual(await first);
    expect(second).toMatchObject({ message: `all ${reviews().length} that it asks for are granted` });
  });

  it('calls nothing all right that is not, or that it could not look at', async () => {
    await open({ MOUNT_PATH: '/etc/coredns' });
    world.sandbox.faults.add({ verb: 'get', resource: 'daemonsets', effect: { do: 'refuse', status: 403 } });
    await world.sandbox.api.remove(configMaps, { name: 'coredns', namespace: 'kube-system' });
    const fine = (await preflight()).filter(({ status }) => status === 'ok').map(({ check }) => check);

    expect(fine).toContain('rights');
    expect(fine.filter((check) => ['MountConflict', 'NoReload', 'BypassedByNodeLocal'].includes(check))).toEqual([]);
  });

  it('tells a kind that is missing from one that is served in other versions', async () => {
    await open({ INGRESSROUTE_TARGET_CNAME: 'traefik.infra.svc.cluster.local' });
    const missing = await checkOf('source IngressRoute');
    await installKinds(world.sandbox);
    const there = await checkOf('source IngressRoute');
    const name = 'ingressroutes.traefik.io';
    await serveOnlyAs(world.sandbox, name, 'v1');

    expect(missing).toMatchObject({ status: 'error', message: expect.stringContaining(`no CustomResourceDefinition`) });
    expect(there).toMatchObject({ status: 'ok' });
    expect(await checkOf('source IngressRoute')).toMatchObject({
      status: 'error',
      message: `CustomResourceDefinition ${name} serves v1, not v1alpha1`,
    });
  });
});

describe('preflight of a second instance', () => {
  const second = {
    INSTANCE: 'second',
    DYNAMIC_CONFIGMAP_NAME: 'second-rules',
    COREDNS_VOLUME_NAME: 'second',
    POD_NAMESPACE: 'prod',
    COREDNS_AUTO_CONFIGURE: 'true',
  };

  /** CoreDNS gets the rules of an instance that serves these classes. */
  async function settle(environment: Environment): Promise<void> {
    const neighbour = await world.another({ ...second, ...environment });
    await send(neighbour.url, binaryEvent({ type: 'dev.knative.sources.ping' }));
    const { spec } = world.sandbox.api.get(deployments, 'coredns', 'kube-system') as Deployment;
    expect(spec?.template.spec?.volumes).toContainEqual(expect.objectContaining({ name: 'second' }));
  }

  it('names the classes that both serve', async () => {
    await open();
    await settle({ INGRESS_CLASS: 'nginx' });

    expect(await checkOf('instances')).toEqual({
      check: 'instances',
      status: 'warn',
      message: 'instance second, whose rules are in ConfigMap second-rules, serves Ingress/nginx too',
    });
  });

  it('has nothing against one with other classes', async () => {
    await open();
    await settle({ INGRESS_CLASS: 'internal' });

    expect(await checkOf('instances')).toMatchObject({ status: 'ok' });
  });

  it('names one that does not say what it serves, as the operator that we replace', async () => {
    await open();
    await settle({});
    const metadata = {
      ...{ name: 'second-rules', namespace: 'kube-system' },
      labels: { 'app.kubernetes.io/managed-by': 'coredns-ingress-sync' },
    };
    await world.sandbox.api.update(configMaps, { metadata });

    expect(await checkOf('instances')).toMatchObject({
      status: 'warn',
      message: expect.stringContaining('coredns-ingress-sync, whose rules are in ConfigMap second-rules, does not say'),
    });
  });

  it('looks at every ConfigMap of a volume, once where rules are spread', async () => {
    await open();
    await settle({ INGRESS_CLASS: 'nginx' });
    const object = structuredClone(world.sandbox.api.get(deployments, 'coredns', 'kube-system')) as Deployment;
    const volume = object.spec?.template.spec?.volumes?.find(({ name }) => name === 'second');
    const sources = [...(volume?.projected?.sources ?? [])];
    Object.assign(volume?.projected ?? {}, { sources: [{ configMap: { name: 'zones', optional: true } }, ...sources] });
    await world.sandbox.api.update(deployments, object);
    const before = world.calls.length;

    expect(sources.length).toBeGreaterThan(1);
    expect(await checkOf('instances')).toMatchObject({ status: 'warn', message: expect.stringContaining('second') });
    const read = world.calls.slice(before).filter(({ code }) => code === 404);
    expect(read.length).toBeLessThan(sources.length);
  });

  it.each(['absent', 'forbidden'])('knows of none where the Deployment of CoreDNS is %s, and says so', async (how) => {
    await open();
    if (how === 'absent') {
      await world.sandbox.api.remove(deployments, { name: 'coredns', namespace: 'kube-system' });
    } else {
      world.sandbox.faults.add({ resource: 'deployments', effect: { do: 'refuse', status: 403 } });
    }

    expect(await checkOf('instances')).toMatchObject({ status: 'warn', message: expect.stringMatching(/^unknown/) });
  });

  it('says what it can not know, where the rights do not reach', async () => {
    await open();
    await settle({});
    const effect = { do: 'refuse', status: 403 } as const;
    world.sandbox.faults.add({ verb: 'get', resource: 'configmaps', name: 'second-rules', effect });

    expect(await checkOf('instances')).toMatchObject({
      status: 'warn',
      message: expect.stringMatching(/mounts ConfigMap second-rules: .* unknown/),
    });
    expect(await checkOf('rules')).toMatchObject({ status: 'ok', message: rulesName });
  });

  it.each([
    ['rules', rulesName],
    ['state', 'coredns-sync-state'],
  ])('answers although the %s may not be read', async (_what, name) => {
    await open();
    const effect = { do: 'refuse', status: 403 } as const;
    world.sandbox.faults.add({ verb: 'get', resource: 'configmaps', name, effect });
    const status = name === rulesName ? 'error' : 'ok';

    expect(await checkOf('rules')).toMatchObject({ status });
  });
});
