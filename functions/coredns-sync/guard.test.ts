import { afterEach, describe, expect, it } from '@jest/globals';
import { kubeconfigAccess, type Access } from '../../lib/kube/access.ts';
import { configMaps, customResourceDefinitions, deployments, type ConfigMap } from '../../lib/kube/resource.ts';
import { kubeconfigFor } from '../../lib/sandbox/requests/kubeconfig.ts';
import type { Sandbox } from '../../lib/sandbox/sandbox.ts';
import { createRoute, installKinds, versionOf } from '../../test/coredns-sync/kinds.ts';
import {
  ingressOf,
  lineOf,
  openWorld,
  until,
  rulesName,
  target,
  type Environment,
  type World,
} from '../../test/coredns-sync/world.ts';
import { binaryEvent, send, startApp } from '../../test/http.ts';
import { turnedClock } from '../../test/sandbox/turned-clock.ts';
import corednsSync from './index.ts';

const ingressKind = { group: 'networking.k8s.io', plural: 'ingresses' };
const configMapEvent = { kind: 'ConfigMap', apiVersion: 'v1', namespace: 'kube-system' };

let world: World;

async function open(environment: Environment = {}, options = {}): Promise<World> {
  world = await openWorld({ MIN_WRITE_INTERVAL_MS: '0', ...environment }, options);
  return world;
}

afterEach(async () => world[Symbol.asyncDispose]());

async function edit(sandbox: Sandbox, name: string, change: (object: ConfigMap) => void): Promise<void> {
  const object = structuredClone(sandbox.api.get(configMaps, name, 'kube-system')) as ConfigMap;
  change(object);
  await sandbox.api.update(configMaps, object);
}

async function fill({ sandbox }: World, count: number, namespace = 'shop'): Promise<readonly string[]> {
  const hosts = Array.from({ length: count }, (_, index) => `host-${index}.${namespace}.example.com`);
  await Promise.all(
    hosts.map((host, index) => sandbox.api.create(ingressKind, ingressOf(`web-${index}`, [host], { namespace }))),
  );
  return hosts;
}

describe('rules that others touch', () => {
  it('CS-37 an edit that keeps the labels is undone by its event', async () => {
    const { ingress, tell, lines, sandbox, writes } = await open();
    await ingress('web', ['api.example.com']);
    await tell('add', 'web');
    await tell('update', rulesName, configMapEvent);
    await edit(sandbox, rulesName, ({ data }) =>
      Object.assign(data ?? {}, { 'dynamic.server': 'rewrite name exact a b.\n' }),
    );
    writes();

    expect(await tell('update', rulesName, configMapEvent)).toBe(204);
    expect(lines()).toEqual([lineOf('api.example.com')]);
  });

  it('the event of an own write costs one read and writes nothing', async () => {
    const { ingress, tell, calls } = await open();
    await ingress('web', ['api.example.com']);
    await tell('add', 'web');
    const before = calls.length;

    expect(await tell('update', rulesName, configMapEvent)).toBe(204);
    expect(calls.slice(before).map(({ verb, resource }) => `${verb} ${resource}`)).toEqual(['get configmaps']);
  });

  it('CS-36 a deleted rules ConfigMap returns after its delete event', async () => {
    const { ingress, tell, lines, sandbox } = await open();
    await ingress('web', ['api.example.com']);
    await tell('add', 'web');
    await sandbox.api.remove(configMaps, { name: rulesName, namespace: 'kube-system' });

    expect(await tell('delete', rulesName, configMapEvent)).toBe(204);
    expect(lines()).toEqual([lineOf('api.example.com')]);
  });

  it('CS-47 a rules ConfigMap without data is written', async () => {
    const { ingress, tell, lines, sandbox } = await open();
    await sandbox.api.create(configMaps, { metadata: { name: rulesName, namespace: 'kube-system' } });
    await ingress('web', ['api.example.com']);

    expect(await tell('add', 'web')).toBe(204);
    expect(lines()).toEqual([lineOf('api.example.com')]);
  });

  it('leaves alone what another manager owns, says so, and takes it over with ADOPT=true', async () => {
    const { ingress, tick, sandbox, rules, conditions, another, lines } = await open();
    const data = { 'dynamic.server': '# peer\nrewrite name exact old.example.com peer.svc.\n', note: 'mine' };
    const labels = { 'app.kubernetes.io/managed-by': 'coredns-ingress-sync' };
    await sandbox.api.create(configMaps, {
      metadata: { name: rulesName, namespace: 'kube-system', labels },
      data,
    } as ConfigMap);
    await ingress('web', ['api.example.com']);

    expect(await tick()).toBe(204);
    expect(rules()?.data).toEqual(data);
    expect(conditions()).toMatchObject({ Conflict: expect.stringContaining('ADOPT=true') });

    const adopting = await another({ ADOPT: 'true' });
    await send(adopting.url, binaryEvent({ type: 'dev.knative.sources.ping' }));
    expect(lines()).toEqual([lineOf('api.example.com')]);
    expect(rules()?.data?.['note']).toBe('mine');
    expect(conditions()).not.toHaveProperty('Conflict');
  });

  it('a stamp from somebody else about newer objects than there are stops no pass', async () => {
    const { ingress, tick, sandbox, lines } = await open();
    await ingress('web', ['api.example.com']);
    await tick();
    await edit(sandbox, rulesName, ({ metadata }) =>
      Object.assign(metadata?.annotations ?? {}, { 'coredns-sync.kube-reflex.dev/observed-rv': '999999999' }),
    );
    await ingress('more', ['more.example.com']);

    expect(await tick()).toBe(204);
    expect(lines()).toEqual([lineOf('api.example.com'), lineOf('more.example.com')]);
  });

  it('an older release does not touch the rules of a newer one', async () => {
    const { ingress, tick, sandbox, rules, conditions } = await open();
    await ingress('web', ['api.example.com']);
    await tick();
    await edit(sandbox, rulesName, ({ metadata }) =>
      Object.assign(metadata?.annotations ?? {}, { 'coredns-sync.kube-reflex.dev/generation': '99' }),
    );
    const before = rules()?.metadata?.resourceVersion;
    await ingress('more', ['more.example.com']);

    expect(await tick()).toBe(204);
    expect(rules()?.metadata?.resourceVersion).toBe(before);
    expect(conditions()).toHaveProperty('NewerRelease');
  });
});

describe('a dry run', () => {
  it('writes a preview beside the rules and says what would change', async () => {
    const { tick, sandbox, rules, state } = await open({ RENDER_ONLY: 'true', COREDNS_AUTO_CONFIGURE: 'true' });
    const data = { 'dynamic.server': 'rewrite name exact old.example.com peer.svc.\n' };
    await sandbox.api.create(configMaps, {
      metadata: { name: rulesName, namespace: 'kube-system' },
      data,
    } as ConfigMap);
    const before = sandbox.api.get(deployments, 'coredns', 'kube-system')?.metadata?.resourceVersion;
    await world.ingress('web', ['api.example.com']);

    expect(await tick()).toBe(204);
    const preview = sandbox.api.get(configMaps, `${rulesName}-preview`, 'kube-system') as ConfigMap;
    expect(preview.data?.['dynamic.server']).toContain(lineOf('api.example.com'));
    expect(rules()?.data).toEqual(data);
    expect(sandbox.api.get(deployments, 'coredns', 'kube-system')?.metadata?.resourceVersion).toBe(before);
    expect(JSON.parse(state()?.data?.['preview'] ?? '{}')).toEqual({
      adds: { count: 1, hosts: ['api.example.com'] },
      removes: { count: 1, hosts: ['old.example.com'] },
    });
  });
});

describe('writers that meet', () => {
  it('CS-39 a slow writer starts over: the newer host survives', async () => {
    const { ingress, tell, lines, sandbox, another } = await open();
    await ingress('web', ['one.example.com']);
    await tell('add', 'web');
    const second = await another();
    await ingress('slow', ['slow.example.com']);
    await ingress('quick', ['quick.example.com']);
    // The first process has read everything and is held at its write while the second does all of its own.
    sandbox.faults.add({
      verb: 'patch',
      resource: 'configmaps',
      name: rulesName,
      times: 1,
      effect: { do: 'delay', ms: 300 },
    });

    const slow = tell('add', 'slow');
    await until(() => sandbox.faults.fired.length === 1);
    expect(await tell('add', 'quick', { to: second })).toBe(204);

    expect(await slow).toBe(204);
    expect(lines()).toEqual(['one', 'quick', 'slow'].map((name) => lineOf(`${name}.example.com`)));
  });

  it('CS-40 twenty increments at once, by two processes: every host is there, every event answered', async () => {
    const { ingress, tell, lines, another, app } = await open();
    await tell('add', 'none');
    const second = await another();
    const names = Array.from({ length: 20 }, (_, index) => `web-${index}`);
    for (const name of names) {
      await ingress(name, [`${name}.example.com`]);
    }

    const statuses = await Promise.all(
      names.map((name, index) => tell('add', name, { to: index % 2 === 0 ? app : second })),
    );
    for (const [index, name] of names.entries()) {
      if (statuses[index] !== 204) {
        expect(statuses[index]).toBe(503);
        expect(await tell('add', name)).toBe(204);
      }
    }

    expect(lines()).toEqual(names.map((name) => lineOf(`${name}.example.com`)).sort());
  });

  it('gives up with 503 when others never stop writing', async () => {
    const { ingress, tell, sandbox } = await open({ CONFLICT_RETRIES: '3' });
    await ingress('web', ['api.example.com']);
    await tell('add', 'web');
    await ingress('more', ['more.example.com']);
    sandbox.faults.add({
      verb: 'patch',
      resource: 'configmaps',
      name: rulesName,
      effect: { do: 'refuse', status: 409 },
    });

    expect(await tell('add', 'more')).toBe(503);
    expect(sandbox.faults.fired).toHaveLength(3);
  });
});

describe('sources that can not be read', () => {
  it('CS-41 the hosts of a namespace whose list fails stay, the others go on', async () => {
    const { ingress, tick, lines, sandbox, conditions, change } = await open({ WATCH_NAMESPACES: 'a,b' });
    await ingress('web', ['a.example.com'], { namespace: 'a' });
    await ingress('web', ['b.example.com'], { namespace: 'b' });
    await tick();
    sandbox.faults.add({ verb: 'list', resource: 'ingresses', namespace: 'a', effect: { do: 'refuse', status: 500 } });
    await change('web', ({ spec }) => Object.assign(spec?.rules?.[0] ?? {}, { host: 'new.example.com' }), 'b');

    expect(await tick()).toBe(503);
    expect(lines()).toEqual([lineOf('a.example.com'), lineOf('new.example.com')]);
    expect(conditions()).toMatchObject({ Unreadable: expect.stringContaining('Ingress in a') });
  });

  it('CS-41 the hosts of a namespace that may no longer be read stay, and the pass is a success', async () => {
    const { ingress, tick, lines, sandbox, conditions, change } = await open(
      { WATCH_NAMESPACES: 'a,b' },
      { rbac: true },
    );
    await ingress('web', ['a.example.com'], { namespace: 'a' });
    await ingress('web', ['b.example.com'], { namespace: 'b' });
    await tick();
    await change('web', ({ spec }) => Object.assign(spec?.rules?.[0] ?? {}, { host: 'new.example.com' }), 'b');
    const limited = await startApp(corednsSync, {
      access: await limitedAccess(sandbox, 'b'),
      environment: { WATCH_NAMESPACES: 'a,b', POD_NAMESPACE: 'kube-reflex', MIN_WRITE_INTERVAL_MS: '0' },
    });
    const { status } = await send(limited.url, binaryEvent({ type: 'dev.knative.sources.ping' }));
    await limited.close();

    expect(status).toBe(204);
    expect(lines()).toEqual([lineOf('a.example.com'), lineOf('new.example.com')]);
    expect(conditions()).toMatchObject({ Forbidden: expect.stringContaining('Ingress in a') });
  });

  it('a kind that the cluster does not serve holds up nothing, not even the repair of an edit', async () => {
    const { ingress, tick, lines, conditions, sandbox } = await open({
      GATEWAY_CLASS: 'shared',
      GATEWAY_TARGET_CNAME: 'gateway.infra.svc.cluster.local',
      INGRESSROUTE_TARGET_CNAME: 'traefik.infra.svc.cluster.local',
    });
    await ingress('web', ['api.example.com']);

    expect(await tick()).toBe(204);
    expect(lines()).toEqual([lineOf('api.example.com')]);
    expect(conditions()).toMatchObject({ KindAbsent: expect.stringMatching(/TLSRoute.*IngressRoute/) });
    await edit(sandbox, rulesName, ({ data }) => Object.assign(data ?? {}, { 'dynamic.server': '' }));
    expect(await tick()).toBe(204);
    expect(lines()).toEqual([lineOf('api.example.com')]);
  });

  it('the hosts of a kind that is no longer served stay until its objects are known to be gone', async () => {
    const { tick, lines, sandbox, tell } = await open({ INGRESSROUTE_TARGET_CNAME: target });
    await installKinds(sandbox);
    await tick();
    await createRoute(sandbox, 'IngressRoute', {
      metadata: { name: 'web', namespace: 'shop' },
      spec: { routes: [{ match: 'Host(`web.example.com`)' }] },
    } as object);
    await tick();
    await sandbox.api.remove(customResourceDefinitions, { name: 'ingressroutes.traefik.io' });

    expect(await tick()).toBe(204);
    expect(lines()).toEqual([lineOf('web.example.com')]);
    await tell('delete', 'web', { kind: 'IngressRoute', apiVersion: versionOf('IngressRoute') });
    expect(lines()).toEqual([]);
  });

  it('CS-42 a list that suddenly is empty changes nothing until a later pass agrees', async () => {
    const clock = turnedClock();
    const { tick, lines, sandbox, conditions } = await open({}, { clock });
    await fill(world, 500);
    await tick();
    const before = lines();
    await Promise.all(
      sandbox.api
        .list(ingressKind)
        .map(({ metadata }) =>
          sandbox.api.remove(ingressKind, { name: metadata?.name ?? '', namespace: metadata?.namespace ?? '' }),
        ),
    );

    await tick();
    expect(lines()).toEqual(before);
    expect(conditions()).toHaveProperty('MassRemoval');
    clock.turn(30_000);
    await tick();
    expect(lines()).toEqual(before);
    clock.turn(31_000);
    await tick();
    expect(lines()).toEqual([]);
    expect(conditions()).not.toHaveProperty('MassRemoval');
  });
});

describe('many hosts', () => {
  it('keeps the last good rules when they no longer fit', async () => {
    const { tick, sandbox, lines, conditions } = await open({ RENDER_MODE: 'exact' });
    await fill(world, 20);
    await tick();
    const before = lines();
    const long = `${'x'.repeat(60)}.${'y'.repeat(60)}.${'z'.repeat(60)}.example.com`;
    for (let part = 0; part < 40; part += 1) {
      const hosts = Array.from({ length: 100 }, (_, index) => `n${part}-${index}.${long}`);
      await sandbox.api.create(ingressKind, ingressOf(`big-${part}`, hosts));
    }

    expect(await tick()).toBe(204);
    expect(lines()).toEqual(before);
    expect(conditions()).toHaveProperty('Full');
  });
});

/** An account that may do everything but read Ingresses elsewhere than in one namespace. */
async function limitedAccess({ api, httpUrl, url, ca }: Sandbox, namespace: string): Promise<Access> {
  const group = 'rbac.authorization.k8s.io';
  const subjects = [{ kind: 'ServiceAccount', name: 'limited', namespace: 'kube-reflex' }];
  const rules = [{ apiGroups: ['', 'apps', 'events.k8s.io'], resources: ['*'], verbs: ['*'] }];
  const reading = [{ apiGroups: ['networking.k8s.io'], resources: ['ingresses'], verbs: ['get', 'list'] }];
  const metadata = { name: 'limited' };
  const local = { name: 'limited', namespace };
  await api.create({ group: '', plural: 'serviceaccounts' }, { metadata: { ...metadata, namespace: 'kube-reflex' } });
  await api.create({ group, plural: 'clusterroles' }, { metadata, rules } as object);
  await api.create({ group, plural: 'roles' }, { metadata: local, rules: reading } as object);
  const clusterRef = { apiGroup: group, kind: 'ClusterRole', name: 'limited' };
  await api.create({ group, plural: 'clusterrolebindings' }, { metadata, subjects, roleRef: clusterRef } as object);
  const localRef = { ...clusterRef, kind: 'Role' };
  await api.create({ group, plural: 'rolebindings' }, { metadata: local, subjects, roleRef: localRef } as object);
  const path = '/api/v1/namespaces/kube-reflex/serviceaccounts/limited/token';
  const body = JSON.stringify({ apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} });
  const headers = { 'content-type': 'application/json' };
  const answer = await (await fetch(new URL(path, httpUrl), { method: 'POST', headers, body })).json();
  const { token } = (answer as { status: { token: string } }).status;
  return kubeconfigAccess(JSON.stringify(kubeconfigFor({ server: url, ca, token })));
}
