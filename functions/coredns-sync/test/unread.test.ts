import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { kubeconfigAccess, type Access } from '../../../lib/kube/access.ts';
import { customResourceDefinitions, deployments, type Deployment } from '../../../lib/kube/model/resource.ts';
import type { KubeObject } from '../../../lib/kube/model/wire.ts';
import { kubeconfigFor } from '../../../lib/sandbox/http/kubeconfig.ts';
import type { Sandbox } from '../../../lib/sandbox/sandbox.ts';
import { createRoute, installKinds, serveOnlyAs, versionOf } from './kinds.ts';
import { editRules, ingressOf, lineOf, openWorld, target, type Environment, type World } from './world.ts';
import { binaryEvent, send, startApp } from '../../../test/support/http.ts';
import { turnedClock } from '../../../lib/sandbox/test/turned-clock.ts';
import corednsSync from '../index.ts';

const ingressKind = { group: 'networking.k8s.io', plural: 'ingresses' };
const definition = 'ingressroutes.traefik.io';
const route = { kind: 'IngressRoute', apiVersion: versionOf('IngressRoute') };

let world: World;

async function open(environment: Environment = {}, options = {}): Promise<World> {
  world = await openWorld({ MIN_WRITE_INTERVAL_MS: '0', ...environment }, options);
  return world;
}

afterEach(async () => world[Symbol.asyncDispose]());

async function fill({ sandbox }: World, count: number, namespace = 'shop'): Promise<readonly string[]> {
  const hosts = Array.from({ length: count }, (_, index) => `host-${index}.${namespace}.example.com`);
  await Promise.all(
    hosts.map((host, index) => sandbox.api.create(ingressKind, ingressOf(`web-${index}`, [host], { namespace }))),
  );
  return hosts;
}

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

  describe('because of one object of somebody who may write anything', () => {
    beforeEach(async () => {
      const { tick, sandbox } = await open({ INGRESSROUTE_TARGET_CNAME: target });
      await installKinds(sandbox);
      await tick(); // the kinds are served a moment after they are defined
    });

    function routeOf(name: string, match: unknown): Promise<KubeObject> {
      const object = { metadata: { name, namespace: 'shop' }, spec: { routes: [{ match }] } };
      return createRoute(world.sandbox, 'IngressRoute', object);
    }

    it('all others are served when a rule nests deeper than anybody can read', async () => {
      const { ingress, tick, lines, conditions } = world;
      await ingress('web', ['web.example.com']);
      await routeOf('deep', `${'('.repeat(3_000)}Host(\`deep.example.com\`)${')'.repeat(3_000)}`);
      await routeOf('denied', `${'!'.repeat(30_000)}Host(\`denied.example.com\`)`);
      await routeOf('plain', 'Host(`plain.example.com`)');

      expect(await tick()).toBe(204);
      expect(lines()).toEqual([lineOf('plain.example.com'), lineOf('web.example.com')]);
      expect(conditions()).not.toHaveProperty('Unreadable');
    });

    it('all others are served when it has a shape that nobody foresaw, and what it had before stays', async () => {
      const { tick, tell, lines, conditions, sandbox } = world;
      const was = await routeOf('odd', 'Host(`odd.example.com`)');
      await tick();
      const kind = { group: 'traefik.io', plural: 'ingressroutes' };
      await sandbox.api.update(kind, { ...was, spec: { routes: [{ match: 5 }] } } as KubeObject);
      await routeOf('plain', 'Host(`plain.example.com`)');

      expect(await tell('update', 'odd', route)).toBe(204);
      expect(lines()).toEqual([lineOf('odd.example.com')]);
      expect(await tick()).toBe(204);
      expect(lines()).toEqual([lineOf('odd.example.com'), lineOf('plain.example.com')]);
      expect(conditions()).toMatchObject({ Unreadable: 'IngressRoute/shop/odd: TypeError' });
      await sandbox.api.remove(kind, { name: 'odd', namespace: 'shop' });
      await tick();
      expect(lines()).toEqual([lineOf('plain.example.com')]);
      expect(conditions()).not.toHaveProperty('Unreadable');
    });
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
    await editRules(sandbox, ({ data }) => Object.assign(data ?? {}, { 'dynamic.server': '' }));
    expect(await tick()).toBe(204);
    expect(lines()).toEqual([lineOf('api.example.com')]);
  });

  it('a kind that nobody defines is said and asked for once, however many namespaces are watched', async () => {
    const { tick, conditions, calls } = await open({ WATCH_NAMESPACES: 'a,b', INGRESSROUTE_TARGET_CNAME: target });
    await tick();

    expect(conditions()['KindAbsent']?.match(/IngressRoute/g)).toHaveLength(1);
    expect(calls.filter(({ resource }) => resource.startsWith('customresourcedefinitions'))).toHaveLength(1);
  });

  describe('of a kind that is no longer served', () => {
    beforeEach(async () => {
      const { tick, sandbox } = await open({ INGRESSROUTE_TARGET_CNAME: target });
      await installKinds(sandbox);
      await tick(); // the kinds are served a moment after they are defined
      await createRoute(sandbox, 'IngressRoute', {
        metadata: { name: 'web', namespace: 'shop' },
        spec: { routes: [{ match: 'Host(`web.example.com`)' }] },
      } as object);
      await tick();
    });

    it('the hosts go with the kind, by a tick alone: whatever defines it outlives its objects', async () => {
      const { tick, lines, sandbox, conditions, writes } = world;
      await sandbox.api.remove(customResourceDefinitions, { name: definition });

      expect(await tick()).toBe(204);
      expect(lines()).toEqual([]);
      expect(conditions()).toMatchObject({ KindAbsent: expect.stringContaining('IngressRoute') });
      writes();
      await tick();
      expect(writes()).toEqual([]);
    });

    it('the hosts stay while the kind is defined and only its version is not served, events or not', async () => {
      const { tick, tell, lines, sandbox, conditions } = world;
      await serveOnlyAs(sandbox, definition, 'v1');

      await tell('delete', 'web', route);
      expect(lines()).toEqual([lineOf('web.example.com')]);
      expect(await tick()).toBe(204);
      expect(lines()).toEqual([lineOf('web.example.com')]);
      expect(conditions()).toMatchObject({ KindAbsent: expect.stringContaining('IngressRoute') });
    });

    it.each([403, 500] as const)('the hosts stay while nobody says whether it is defined (%i)', async (status) => {
      const { tick, lines, sandbox, tell } = world;
      await sandbox.api.remove(customResourceDefinitions, { name: definition });
      sandbox.faults.add({ resource: 'customresourcedefinitions', effect: { do: 'refuse', status } });

      expect(await tick()).toBe(204);
      expect(lines()).toEqual([lineOf('web.example.com')]);
      await tell('delete', 'web', route);
      expect(lines()).toEqual([lineOf('web.example.com')]);
    });

    it('an event is enough where nobody defines the kind any more', async () => {
      const { tell, lines, sandbox } = world;
      await sandbox.api.remove(customResourceDefinitions, { name: definition });

      await tell('delete', 'web', route);
      expect(lines()).toEqual([]);
    });
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

describe('settings that no host matches any more', () => {
  it.each(['exact', 'grouped', 'template'])(
    'CS-42 change nothing until a later pass agrees, where rules are written as %s',
    async (RENDER_MODE) => {
      const clock = turnedClock();
      const { tick, lines, conditions, another } = await open({ RENDER_MODE }, { clock });
      await fill(world, 50);
      await tick();
      const before = lines();
      const mistaken = await another({ INGRESS_CLASS: 'ngnix' });
      function tickOfMistaken(): Promise<unknown> {
        return send(mistaken.url, binaryEvent({ type: 'dev.knative.sources.ping' }));
      }

      await tickOfMistaken();
      expect(lines()).toEqual(before);
      expect(conditions()['MassRemoval']).toContain('50 of 50 hosts');
      clock.turn(61_000);
      await tickOfMistaken();
      expect(lines()).toEqual([]);
    },
  );
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

  it('costs a full pass once for an object that does not fit, not with each change of it', async () => {
    const { calls, sandbox, tell, conditions } = await open({ RENDER_MODE: 'exact', EMIT_EVENTS: 'false' });
    const long = `${'x'.repeat(60)}.${'y'.repeat(60)}.${'z'.repeat(60)}.example.com`;
    let last = '';
    for (let part = 0; !('Full' in conditions()); part += 1) {
      last = `big-${part}`;
      const hosts = Array.from({ length: 100 }, (_, index) => `n${part}-${index}.${long}`);
      await sandbox.api.create(ingressKind, ingressOf(last, hosts));
      expect(await tell('add', last)).toBe(204);
    }
    const before = calls.length;

    expect([await tell('update', last), await tell('update', last)]).toEqual([204, 204]);
    expect(calls.slice(before).filter(({ verb }) => verb === 'list')).toEqual([]);
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

it('a list that fails for good keeps nothing from CoreDNS: it is still given its volume', async () => {
  await open({ COREDNS_AUTO_CONFIGURE: 'true', WATCH_NAMESPACES: 'a,shop' });
  const effect = { do: 'refuse', status: 500 } as const;
  world.sandbox.faults.add({ verb: 'list', resource: 'ingresses', namespace: 'a', effect });
  await world.ingress('web', ['api.example.com']);
  const answer = await world.tick();
  const { spec } = world.sandbox.api.get(deployments, 'coredns', 'kube-system') as Deployment;

  expect(answer).toBe(503);
  expect(world.lines()).toEqual([lineOf('api.example.com')]);
  expect(spec?.template.spec?.volumes?.map(({ name }) => name)).toContain('coredns-ingress-sync-volume');
});
