import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { configMaps, events, pods, type ConfigMap, type Resource } from '../../../lib/kube/model/resource.ts';
import type { KubeObject } from '../../../lib/kube/model/wire.ts';
import { lineOf, openWorld, rulesName, type World } from './world.ts';
import { turnedClock } from '../../../lib/sandbox/test/turned-clock.ts';

const serviceAccounts: Resource = {
  group: '',
  version: 'v1',
  kind: 'ServiceAccount',
  plural: 'serviceaccounts',
  namespaced: true,
};
const minutes = 60_000;
const clock = turnedClock();
let world: World;
let coredns: Server;
let failed = 0;
let version = 'a';

afterEach(async () => {
  await world[Symbol.asyncDispose]();
  coredns.close();
});

/** A cluster whose one CoreDNS pod tells of its reloads, and whose first rules it has taken. */
async function open(): Promise<void> {
  failed = 0;
  version = 'a';
  coredns = createServer((_request, response) => {
    const info = `coredns_reload_version_info{hash="sha512",value="${version}"} 1`;
    response.end(`coredns_reload_failed_total ${failed}\n${info}\n`);
  });
  coredns.listen(0, '127.0.0.1');
  await once(coredns, 'listening');
  const { port } = coredns.address() as AddressInfo;
  world = await openWorld({ VERIFY_RELOAD: 'true', MIN_WRITE_INTERVAL_MS: '0' }, { clock });
  const corefile = structuredClone(world.sandbox.api.get(configMaps, 'coredns', 'kube-system')) as ConfigMap;
  const text = corefile.data?.['Corefile']?.replace('prometheus :9153', `prometheus :${port}`) ?? '';
  await world.sandbox.api.update(configMaps, { ...corefile, data: { Corefile: text } } as ConfigMap);
  await world.sandbox.api.create(serviceAccounts, { metadata: { name: 'default', namespace: 'kube-system' } });
  const metadata = { name: 'coredns-1', namespace: 'kube-system', labels: { 'k8s-app': 'kube-dns' } };
  const object = { metadata, spec: { containers: [{ name: 'coredns', image: 'coredns' }] } } as KubeObject;
  const pod = await world.sandbox.api.create(pods, object);
  const status = { phase: 'Running', podIP: '127.0.0.1', podIPs: [{ ip: '127.0.0.1' }] };
  await world.sandbox.api.update(pods, { ...pod, status } as KubeObject, { subresource: 'status' });
  await world.ingress('web', ['api.example.com']);
  await tickLater();
  await tickLater();
  await tickLater();
}

async function tickLater(): Promise<void> {
  clock.turn(5 * minutes);
  expect(await world.tick()).toBe(204);
}

function lastGood(): ConfigMap | undefined {
  return world.sandbox.api.get(configMaps, `${rulesName}-lkg`, 'kube-system');
}

/** Rules that CoreDNS will not take, and its failure. */
async function refuse(host: string): Promise<void> {
  await world.ingress(host.split('.')[0] ?? '', [host]);
  await world.tell('add', host.split('.')[0] ?? '');
  failed += 1;
}

describe('with VERIFY_RELOAD', () => {
  it('rules that CoreDNS took are kept, and a quiet tick writes nothing', async () => {
    await open();
    world.writes();
    await tickLater();

    expect(lastGood()?.data?.['dynamic.server']).toBe(world.rules()?.data?.['dynamic.server']);
    expect(world.writes()).toEqual([]);
    expect(world.conditions()).not.toHaveProperty('ReloadUnknown');
  });

  it('rules that CoreDNS refuses give way to the last that it took, once, and everybody is told', async () => {
    await open();
    await refuse('bad.example.com');
    await tickLater();
    const after = world.lines();
    const told = world.sandbox.api.list(events).map((event) => (event as { reason?: string }).reason);
    world.writes();
    await tickLater();
    await tickLater();

    expect(after).toEqual([lineOf('api.example.com')]);
    expect(world.conditions()).toHaveProperty('RolledBack');
    expect(told).toContain('RolledBack');
    expect(world.lines()).toEqual(after);
    expect(world.writes().filter((write) => write !== 'patch configmaps')).toEqual([]);
    const metrics = await (await fetch(new URL('/metrics', world.app.url))).text();
    expect(metrics).toContain('kube_reflex_coredns_sync_rollbacks_total 1');
  });

  it.each([
    ['ends before the rules are back', { name: rulesName, effect: { do: 'refuse', status: 500 } }],
    [
      'is overtaken by a write of the state',
      { name: 'coredns-sync-state', times: 1, effect: { do: 'refuse', status: 409 } },
    ],
  ] as const)('a rollback that %s is carried on', async (_, fault) => {
    await open();
    await refuse('bad.example.com');
    const recover = world.sandbox.faults.add({ verb: 'patch', ...fault });
    clock.turn(5 * minutes);
    await world.tick();
    const struck = world.sandbox.faults.fired.length;
    recover();
    await tickLater();

    expect(struck).toBeGreaterThan(0);
    expect(world.lines()).toEqual([lineOf('api.example.com')]);
    expect(world.conditions()).toHaveProperty('RolledBack');
    expect(lastGood()?.data?.['dynamic.server']).not.toContain('bad.example.com');
  });

  it('rules that lack most of the hosts do not come back', async () => {
    await open();
    await world.ingress(
      'many',
      Array.from({ length: 20 }, (_, index) => `host-${index}.example.com`),
    );
    await refuse('bad.example.com');
    await tickLater();
    await world.tell('add', 'many');
    failed += 1;
    await tickLater();

    expect(world.lines()).toHaveLength(22);
    expect(world.conditions()).toHaveProperty('ReloadFailed');
  });

  it('while rules are refused, events of objects that did not change cost no look at everything', async () => {
    await open();
    await refuse('bad.example.com');
    await tickLater();
    const before = world.calls.length;
    await world.tell('update', 'web');
    await world.tell('update', 'bad');

    expect(world.conditions()).toHaveProperty('RolledBack');
    expect(world.calls.slice(before).filter(({ verb }) => verb === 'list')).toEqual([]);
  });

  it('other rules than the refused ones are tried, and end the matter when CoreDNS takes them', async () => {
    await open();
    await refuse('bad.example.com');
    await tickLater();
    await world.remove('bad');
    await world.ingress('fine', ['fine.example.com']);
    await world.tell('add', 'fine');

    expect(world.lines()).toEqual(['api.example.com', 'fine.example.com'].map((host) => lineOf(host)));
    await tickLater();
    await tickLater();
    expect(world.conditions()).not.toHaveProperty('RolledBack');
    expect(lastGood()?.data?.['dynamic.server']).toContain('fine.example.com');
  });

  it('rules that CoreDNS took before are not blamed for what else it refuses', async () => {
    await open();
    failed += 1;
    await tickLater();

    expect(world.lines()).toEqual([lineOf('api.example.com')]);
    expect(world.conditions()).toHaveProperty('ReloadFailed');
    expect(world.conditions()).not.toHaveProperty('RolledBack');
  });

  it('rules that are written while the Corefile of somebody else is broken stay, and are kept when it is mended', async () => {
    await open();
    failed += 1;
    version = 'broken';
    await tickLater();
    await refuse('more.example.com');
    await tickLater();
    await tickLater();

    expect(world.lines()).toContain(lineOf('more.example.com'));
    expect(world.conditions()).toHaveProperty('ReloadFailed');
    expect(lastGood()?.data?.['dynamic.server']).not.toContain('more.example.com');
    version = 'mended';
    await tickLater();
    await tickLater();
    expect(world.conditions()).not.toHaveProperty('ReloadFailed');
    expect(lastGood()?.data?.['dynamic.server']).toContain('more.example.com');
  });

  it.each([
    ['of another instance', 'labels', { 'app.kubernetes.io/instance': 'theirs' }],
    ['of a newer release', 'annotations', { 'coredns-sync.kube-reflex.dev/generation': '9999' }],
  ] as const)('rules %s are neither kept nor replaced, whatever CoreDNS says of them', async (_, part, values) => {
    await open();
    await refuse('bad.example.com');
    const { metadata, ...content } = world.rules() ?? {};
    const theirs = { ...metadata, [part]: { ...metadata?.[part], ...values } };
    await world.sandbox.api.update(configMaps, { ...content, metadata: theirs });
    const [rules, copy] = [world.rules(), lastGood()];
    await tickLater();
    await tickLater();

    expect(world.rules()).toEqual(rules);
    expect(lastGood()).toEqual(copy);
  });

  it('a CoreDNS that says nothing of its reloads is named', async () => {
    await open();
    await world.sandbox.api.remove(pods, { name: 'coredns-1', namespace: 'kube-system' });
    await tickLater();
    await refuse('more.example.com');
    await tickLater();

    expect(world.conditions()).toHaveProperty('ReloadUnknown');
    expect(world.lines()).toContain(lineOf('more.example.com'));
  });

  it.each([
    ['the pods', { verb: 'list', resource: 'pods' }],
    ['the copies', { verb: 'get', name: `${rulesName}-lkg` }],
  ])('rules are written also where %s may not be read', async (_, subject) => {
    await open();
    world.sandbox.faults.add({ ...subject, effect: { do: 'refuse', status: 403 } });
    await world.ingress('more', ['more.example.com']);
    await tickLater();
    await tickLater();

    expect(world.lines()).toContain(lineOf('more.example.com'));
    expect(world.conditions()['ReloadUnknown']).toContain('forbidden');
  });

  it('cleanup takes the copies away, also those of more ConfigMaps than there may be now', async () => {
    await open();
    await world.rollOut();
    const far = { name: `${rulesName}-100-lkg`, namespace: 'kube-system' };
    await world.sandbox.api.create(configMaps, { ...lastGood(), metadata: far });
    const { metadata, ...state } = world.state() ?? {};
    const annotations = { 'coredns-sync.kube-reflex.dev/cleanup': 'requested' };
    await world.sandbox.api.update(configMaps, { ...state, metadata: { ...metadata, annotations } });
    await tickLater();

    expect(lastGood()).toBeUndefined();
    expect(world.sandbox.api.get(configMaps, far.name, far.namespace)).toBeUndefined();
  });
});
