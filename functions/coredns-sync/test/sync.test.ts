import { afterEach, describe, expect, it } from '@jest/globals';
import { ingresses, type Ingress } from '../../../lib/kube/model/resource.ts';
import type { KubeObject } from '../../../lib/kube/model/wire.ts';
import { ingressOf, lineOf, openWorld, until, target, type Environment, type World } from './world.ts';
import { binaryEvent, send } from '../../../test/support/http.ts';
import { turnedClock } from '../../../lib/sandbox/test/turned-clock.ts';

let world: World;

async function open(environment: Environment = {}): Promise<World> {
  world = await openWorld({ MIN_WRITE_INTERVAL_MS: '0', ...environment });
  return world;
}

afterEach(async () => world[Symbol.asyncDispose]());

/** All Events, oldest first. */
function told(): string[] {
  return world.sandbox.api
    .list({ group: 'events.k8s.io', plural: 'events' })
    .map((event) => event as KubeObject & { reason?: string; regarding?: { name?: string }; note?: string })
    .sort((left, right) => Number(left.metadata?.resourceVersion) - Number(right.metadata?.resourceVersion))
    .map(({ reason, regarding, note }) => `${regarding?.name ?? ''} ${reason ?? ''}: ${note ?? ''}`);
}

describe('coredns-sync and its Ingresses', () => {
  it('CS-1 an add event makes one line with the target, and is answered', async () => {
    const { ingress, tell, lines } = await open();
    await ingress('web', ['api.example.com']);

    expect(await tell('add', 'web')).toBe(204);
    expect(lines()).toEqual([lineOf('api.example.com')]);
  });

  it('CS-2 a hundred redeliveries at once write nothing', async () => {
    const { ingress, tell, rules, writes } = await open();
    await ingress('web', ['api.example.com']);
    await tell('add', 'web');
    const before = rules()?.metadata?.resourceVersion;
    writes();

    const statuses = await Promise.all(Array.from({ length: 100 }, () => tell('add', 'web')));

    expect(new Set(statuses)).toEqual(new Set([204]));
    expect(rules()?.metadata?.resourceVersion).toBe(before);
    expect(writes()).toEqual([]);
  });

  it('CS-3 a change of status alone writes nothing, and reads the object and its record only', async () => {
    const { ingress, tell, writes, calls, sandbox } = await open();
    await ingress('web', ['api.example.com']);
    await tell('add', 'web');
    const current = structuredClone(sandbox.api.get(ingresses, 'web', 'shop')) as Ingress;
    const status = { loadBalancer: { ingress: [{ ip: '192.0.2.1' }] } };
    await sandbox.api.update(ingresses, { ...current, status } as Ingress, { subresource: 'status' });
    writes();
    const before = calls.length;

    expect(await tell('update', 'web')).toBe(204);
    expect(writes()).toEqual([]);
    expect(
      calls
        .slice(before)
        .map(({ resource }) => resource)
        .sort(),
    ).toEqual(['configmaps', 'ingresses.networking.k8s.io']);
  });

  it('CS-4 a tick an hour later writes nothing', async () => {
    const clock = turnedClock();
    world = await openWorld({}, { clock });
    const { ingress, tell, tick, writes, rules } = world;
    await ingress('web', ['api.example.com']);
    await tell('add', 'web');
    const before = rules()?.metadata?.resourceVersion;
    await tick();
    writes();

    clock.turn(3_600_000);

    expect(await tick()).toBe(204);
    expect(writes()).toEqual([]);
    expect(rules()?.metadata?.resourceVersion).toBe(before);
  });

  it('CS-5 the order of creation and of events does not change a byte', async () => {
    const names = Array.from({ length: 50 }, (_, index) => `host-${index}`);
    const texts: (string | undefined)[] = [];
    for (const order of [
      names,
      names.toReversed(),
      names.toSorted((a, b) => a.length - b.length || (a < b ? 1 : -1)),
    ]) {
      const { ingress, tell, rules } = await open();
      await tell('add', 'nothing');
      for (const name of order) {
        await ingress(name, [`${name}.example.com`]);
      }
      await Promise.all(order.map((name) => tell('add', name)));
      texts.push(rules()?.data?.['dynamic.server']);
      await world[Symbol.asyncDispose]();
    }
    await open();

    expect(texts[0]?.split('\n').filter((line) => line.startsWith('rewrite'))).toHaveLength(50);
    expect(new Set(texts).size).toBe(1);
  });

  it('CS-6 a host goes when the class of its Ingress changes, though the event has only the new object', async () => {
    const { ingress, change, tell, lines } = await open();
    await ingress('web', ['api.example.com']);
    await tell('add', 'web');
    await change('web', ({ spec }) => Object.assign(spec ?? {}, { ingressClassName: 'other' }));

    expect(await tell('update', 'web')).toBe(204);
    expect(lines()).toEqual([]);
  });

  it('CS-7 the enabled annotation takes a host out and any other word brings it back', async () => {
    const { ingress, change, tell, lines } = await open();
    const seen: (readonly string[])[] = [];
    await ingress('web', ['api.example.com']);
    await tell('add', 'web');
    for (const value of [' Off ', 'banana']) {
      await change('web', ({ metadata }) =>
        Object.assign(metadata ?? {}, { annotations: { 'coredns-ingress-sync-enabled': value } }),
      );
      await tell('update', 'web');
      seen.push(lines());
    }

    expect(seen).toEqual([[], [lineOf('api.example.com')]]);
  });

  it('CS-8 an add event that arrives after the delete brings nothing back', async () => {
    const { ingress, remove, tell, lines } = await open();
    await ingress('web', ['api.example.com']);
    await tell('add', 'web');
    await remove('web');
    await tell('delete', 'web');

    expect(await tell('add', 'web')).toBe(204);
    expect(lines()).toEqual([]);
  });

  it('CS-9 of an Ingress that was made anew under its name only the new host remains, in whatever order events come', async () => {
    const { ingress, remove, tell, lines } = await open();
    await ingress('web', ['old.example.com']);
    await tell('add', 'web');
    await remove('web');
    await ingress('web', ['new.example.com']);
    await tell('add', 'web');

    expect(await tell('delete', 'web')).toBe(204);
    expect(lines()).toEqual([lineOf('new.example.com')]);
  });

  it('CS-10 the first tick finds what was there before', async () => {
    const { ingress, tick, lines } = await open();
    await ingress('a', ['a.example.com']);
    await ingress('b', ['b.example.com'], { namespace: 'prod' });

    expect(await tick()).toBe(204);
    expect(lines()).toEqual([lineOf('a.example.com'), lineOf('b.example.com')]);
  });

  it('CS-22 class 1 wins until priority says otherwise, and the loser is promoted in one increment', async () => {
    const first = 'one.ingress.svc.cluster.local.';
    const second = 'two.ingress.svc.cluster.local.';
    const mappings = [
      { ingressClass: 'one', targetCNAME: first },
      { ingressClass: 'two', targetCNAME: second },
    ];
    const { ingress, change, remove, tell, lines, calls } = await open({
      INGRESS_CLASS_MAPPINGS: JSON.stringify(mappings),
    });
    const host = 'shared.example.com';
    const seen: (readonly string[])[] = [];
    async function after(name: string, annotations: Readonly<Record<string, string>>): Promise<void> {
      await change(name, ({ metadata }) => Object.assign(metadata ?? {}, { annotations }));
      await tell('update', name);
      seen.push(lines());
    }

    await ingress('second', [host], { className: 'two' });
    await tell('add', 'second');
    await ingress('first', [host], { className: 'one' });
    await tell('add', 'first');
    seen.push(lines());
    await after('second', { 'coredns-ingress-sync-priority': ' +20 ' });
    await after('second', {});
    await remove('first');
    const before = calls.length;
    await tell('delete', 'first');
    seen.push(lines());

    expect(seen).toEqual([first, second, first, second].map((to) => [lineOf(host, to)]));
    expect(calls.slice(before).filter(({ verb }) => verb === 'list')).toEqual([]);
  });

  it('tells on the Ingress what became of its hosts', async () => {
    const { ingress, tell } = await open();
    await ingress('web', ['api.example.com', 'kubernetes.default.svc.cluster.local']);
    await ingress('zlate', ['api.example.com']);
    await tell('add', 'web');
    await tell('add', 'zlate');

    expect(told().sort()).toEqual([
      expect.stringContaining('web HostProtected: belongs to the cluster itself'),
      'web HostSynced: api.example.com: resolves inside the cluster',
      expect.stringContaining('zlate HostConflict: api.example.com (Ingress/shop/web)'),
    ]);
  });

  it('tells the others whose hosts change hands by that, each time', async () => {
    const { ingress, tell, remove, tick } = await open();
    await ingress('web', ['api.example.com', 'other.example.com']);
    await tell('add', 'web');
    await ingress('boss', ['api.example.com'], { annotations: { 'coredns-ingress-sync-priority': '5' } });
    await tell('add', 'boss');
    const outranked = told().filter((each) => each.startsWith('web'));
    await remove('boss');
    await tell('delete', 'boss');
    const promoted = told().filter((each) => each.startsWith('web')).length;
    await ingress('boss', ['api.example.com'], { annotations: { 'coredns-ingress-sync-priority': '5' } });
    await tick();

    expect(outranked).toEqual([
      'web HostSynced: api.example.com, other.example.com: resolves inside the cluster',
      expect.stringContaining('web HostConflict: api.example.com (Ingress/shop/boss)'),
    ]);
    expect(promoted).toBe(3);
    expect(told().filter((each) => each.startsWith('web HostConflict'))).toHaveLength(2);
  });

  it('tells on the object itself, although the one that had the host can not be read', async () => {
    const { ingress, tell, sandbox } = await open();
    await ingress('web', ['api.example.com']);
    await tell('add', 'web');
    sandbox.faults.add({ verb: 'get', resource: 'ingresses', name: 'web', effect: { do: 'refuse', status: 500 } });
    await ingress('boss', ['api.example.com'], { annotations: { 'coredns-ingress-sync-priority': '5' } });
    await tell('add', 'boss');

    expect(told()).toContain('boss HostSynced: api.example.com: resolves inside the cluster');
  });

  it('counts objects by namespace, and forgets a namespace that has none any more', async () => {
    const { app, ingress, remove, tick } = await open();
    async function sources(): Promise<readonly string[]> {
      const text = await (await fetch(new URL('/metrics', app.url))).text();
      return text.match(/(?<=^kube_reflex_coredns_sync_sources\{).*/gm) ?? [];
    }
    await ingress('web', ['a.example.com'], { namespace: 'a' });
    await ingress('web', ['b.example.com'], { namespace: 'b' });
    await tick();
    const both = await sources();
    await remove('web', 'a');
    await tick();

    expect([both.length, await sources()]).toEqual([2, ['kind="Ingress",namespace="b"} 1']]);
  });

  it('shows hosts, winners, losers and conditions at /status and in the state', async () => {
    const { app, tick, sandbox, state } = await open();
    await sandbox.api.create(ingresses, ingressOf('web', ['api.example.com']));
    await sandbox.api.create(ingresses, ingressOf('zweb', ['api.example.com']));
    await tick();
    const status = (await (await fetch(new URL('/status', app.url))).json()) as Record<string, unknown>;

    expect(status).toMatchObject({
      hosts: [{ host: 'api.example.com', target, winner: 'Ingress/shop/web', losers: ['Ingress/shop/zweb'] }],
      conditions: { NotConfigured: expect.stringContaining('import') },
    });
    expect(state()?.data?.['summary']).toContain('Ingress/shop/web > Ingress/shop/zweb');
  });

  it('figures that alone differ are written behind the tick, whoever writes at the same time, and are no repair', async () => {
    const { app, ingress, tell, tick, sandbox, state } = await open();
    await ingress('web', ['api.example.com']);
    await tell('add', 'web');
    await ingress('more', ['more.example.com']);
    await tell('add', 'more');
    const effect = { do: 'refuse', status: 409 } as const;
    sandbox.faults.add({ verb: 'patch', resource: 'configmaps', name: 'coredns-sync-state', times: 1, effect });

    expect(await tick()).toBe(204);
    await until(() => state()?.data?.['summary']?.includes('"hosts": 2') === true);
    const metrics = await (await fetch(new URL('/metrics', app.url))).text();
    expect(metrics).toContain('kube_reflex_coredns_sync_conflicts_total 1');
    expect(metrics).not.toMatch(/kube_reflex_(drift|background_failures)_total\{function="coredns-sync".*\} [1-9]/);
  });
});

describe('a process that has just started', () => {
  it('shows what the last full pass found, be it that of another one', async () => {
    const { ingress, tick, tell, another } = await open();
    await ingress('web', ['web.example.com']);
    await tick();
    const fresh = await another();
    await ingress('more', ['more.example.com']);
    await tell('add', 'more', { to: fresh });
    const metrics = await (await fetch(new URL('/metrics', fresh.url))).text();

    expect(metrics).toContain('kube_reflex_coredns_sync_hosts{state="managed"} 1');
    expect(metrics).toContain('kube_reflex_coredns_sync_shards 1');
    expect(metrics).toContain('kube_reflex_coredns_sync_condition{type="NotConfigured"} 1');
  });

  it('leaves no rules under the key of other settings, which CoreDNS would still import', async () => {
    const { ingress, tick, remove, another, rules } = await open();
    await ingress('web', ['web.example.com']);
    await tick();
    const other = await another({ DYNAMIC_CONFIG_KEY: 'rules.server' });
    await remove('web');
    await send(other.url, binaryEvent({ type: 'dev.knative.sources.ping' }));

    expect(Object.keys(rules()?.data ?? {}).sort()).toEqual(['rules.claims', 'rules.server']);
  });
});
