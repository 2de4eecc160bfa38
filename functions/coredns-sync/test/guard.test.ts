import { afterEach, describe, expect, it } from '@jest/globals';
import { configMaps, type ConfigMap } from '../../../lib/kube/model/resource.ts';
import { editRules, lineOf, openWorld, rulesName, type Environment, type World } from './world.ts';
import { binaryEvent, send } from '../../../test/support/http.ts';

const configMapEvent = { kind: 'ConfigMap', apiVersion: 'v1', namespace: 'kube-system' };

let world: World;

async function open(environment: Environment = {}, options = {}): Promise<World> {
  world = await openWorld({ MIN_WRITE_INTERVAL_MS: '0', ...environment }, options);
  return world;
}

afterEach(async () => world[Symbol.asyncDispose]());

describe('rules that others touch', () => {
  it('CS-37 an edit that keeps the labels is undone by its event', async () => {
    const { ingress, tell, lines, sandbox, writes } = await open();
    await ingress('web', ['api.example.com']);
    await tell('add', 'web');
    await tell('update', rulesName, configMapEvent);
    await editRules(sandbox, ({ data }) =>
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

  it('counts what others edit or take away as drift, and not what other settings change', async () => {
    const { ingress, tick, sandbox, another, app } = await open();
    async function drift({ url } = app): Promise<string | undefined> {
      const text = await (await fetch(new URL('/metrics', url))).text();
      return /^kube_reflex_coredns_sync_drift_total\{type="rules"\} (\d+)/m.exec(text)?.[1];
    }
    await ingress('web', ['api.example.com']);
    await tick();
    const atFirst = await drift();
    await sandbox.api.remove(configMaps, { name: rulesName, namespace: 'kube-system' });
    await tick();
    const deleted = await drift();
    await editRules(sandbox, ({ data }) => Object.assign(data ?? {}, { 'dynamic.server': '' }));
    await tick();
    const edited = await drift();
    const other = await another({ TARGET_CNAME: 'other.infra.svc.cluster.local' });
    await send(other.url, binaryEvent({ type: 'dev.knative.sources.ping' }));

    expect([atFirst, deleted, edited, await drift(other)]).toEqual([undefined, '1', '2', undefined]);
    expect(world.lines()).toEqual([lineOf('api.example.com', 'other.infra.svc.cluster.local.')]);
  });

  it('counts it as drift that somebody replaces the rules, and everything that says whose they are', async () => {
    const { ingress, tick, sandbox, app } = await open();
    await ingress('web', ['api.example.com']);
    await tick();
    await editRules(sandbox, ({ metadata }) => Object.assign(metadata ?? {}, { labels: {}, annotations: {} }));
    await tick();
    const metrics = await (await fetch(new URL('/metrics', app.url))).text();

    expect(metrics).toContain('kube_reflex_coredns_sync_drift_total{type="label"} 1');
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
    await editRules(sandbox, ({ metadata }) =>
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
    await editRules(sandbox, ({ metadata }) =>
      Object.assign(metadata?.annotations ?? {}, { 'coredns-sync.kube-reflex.dev/generation': '99' }),
    );
    const before = rules()?.metadata?.resourceVersion;
    await ingress('more', ['more.example.com']);

    expect(await tick()).toBe(204);
    expect(rules()?.metadata?.resourceVersion).toBe(before);
    expect(conditions()).toHaveProperty('NewerRelease');
  });
});

describe('the state', () => {
  it('counts as lost where it does not say where rules are', async () => {
    const { ingress, tick, lines } = await open();
    await ingress('web', ['web.example.com']);
    await tick();
    const state = world.state();
    await world.sandbox.api.update(configMaps, { ...state, data: { ...state?.data, layout: '{}' } } as ConfigMap);
    await ingress('more', ['more.example.com']);

    expect(await tick()).toBe(204);
    expect(lines()).toHaveLength(2);
  });
});
