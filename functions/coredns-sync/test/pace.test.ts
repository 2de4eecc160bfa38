import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import { configMaps, events, ingresses, type ConfigMap, type Ingress } from '../../../lib/kube/model/resource.ts';
import type { KubeObject } from '../../../lib/kube/model/wire.ts';
import type { Running } from '../../../lib/runtime/main.ts';
import type { Sandbox } from '../../../lib/sandbox/sandbox.ts';
import { editRules, lineOf, openWorld, rulesName, until, type Environment, type World } from './world.ts';
import { startProcess, type FunctionProcess } from '../../../test/support/process.ts';
import { binaryEvent, send } from '../../../test/support/http.ts';
import { turnedClock, type TurnedClock } from '../../../lib/sandbox/test/turned-clock.ts';
import { annotated } from '../state/annotation.ts';

let world: World;

async function open(environment: Environment = {}): Promise<World> {
  world = await openWorld(environment);
  return world;
}

afterEach(async () => world[Symbol.asyncDispose]());

/** The rules are written once, so that the next write comes too early. */
async function justWritten(environment: Environment = {}): Promise<World> {
  const opened = await open(environment);
  await opened.ingress('web', ['web.example.com']);
  await opened.tell('add', 'web');
  return opened;
}

interface AlmostDue {
  readonly clock: TurnedClock;
  readonly to: Running;
  readonly tell: (name: string) => Promise<number>;
}

/** The same, and time stands still a second before the next write, for the server and for the process that is told. */
async function almostDue(): Promise<AlmostDue> {
  const clock = turnedClock();
  world = await openWorld({ MIN_WRITE_INTERVAL_MS: '60000' }, { clock });
  const to = await world.another({}, { now: () => clock.now() });
  function tell(name: string): Promise<number> {
    return world.tell('add', name, { to });
  }
  await world.ingress('web', ['web.example.com']);
  await tell('web');
  clock.turn(59_000);
  return { clock, to, tell };
}

describe('bursts', () => {
  it('a lone event waits for nothing', async () => {
    const { lines } = await justWritten({ MIN_WRITE_INTERVAL_MS: '60000' });

    expect(lines()).toEqual([lineOf('web.example.com')]);
  });

  it('an event that comes too early is answered at once, marked as owed, and written when its time has come', async () => {
    const { clock, tell } = await almostDue();
    const { ingress, lines, state } = world;
    await ingress('early', ['early.example.com']);

    expect(await tell('early')).toBe(204);
    expect([lines().length, Object.keys(owed(state())).length]).toEqual([1, 1]);
    clock.turn(1_000);
    await until(() => lines().length === 2);
    await until(() => Object.keys(owed(state())).length === 0);
  });

  it('what waits needs no calls of its own, and is written in one go', async () => {
    const { clock, tell } = await almostDue();
    const { ingress, lines, calls, rules } = world;
    const names = Array.from({ length: 30 }, (_, index) => `early-${index}`);
    for (const name of names) {
      await ingress(name, [`${name}.example.com`]);
    }
    await tell(names[0] ?? '');
    const version = rules()?.metadata?.resourceVersion;
    const before = calls.length;
    await Promise.all(names.slice(1).map(tell));
    const between = calls.slice(before);
    clock.turn(1_000);
    await until(() => lines().length === 31);

    expect(between).toEqual([]);
    const writes = calls.slice(before).filter(({ verb, resource }) => verb === 'patch' && resource === 'configmaps');
    expect(version).not.toBe(rules()?.metadata?.resourceVersion);
    expect(writes.length).toBeLessThanOrEqual(3); // rules, records, mark
  });

  it('everybody is told what became of the hosts, however many were written in one go', async () => {
    const { clock, tell } = await almostDue();
    const names = Array.from({ length: 120 }, (_, index) => `early-${index}`);
    for (const name of names) {
      await world.ingress(name, [`${name}.example.com`]);
      await tell(name);
    }
    clock.turn(1_000);
    await until(() => Object.keys(owed(world.state())).length === 0);

    const told = world.sandbox.api
      .list(events)
      .map((event) => (event as KubeObject & { readonly regarding: { readonly name: string } }).regarding.name);
    expect(names.filter((name) => !told.includes(name))).toEqual([]);
  });

  it('what joins others that wait is not written too early, although their time comes first', async () => {
    const { clock, tell, to } = await almostDue();
    const { ingress, lines, tick } = world;
    for (const name of ['first', 'second']) {
      await ingress(name, [`${name}.example.com`]);
      await tell(name);
    }
    await tick(); // of another process, which writes both
    await ingress('third', ['third.example.com']);
    await tell('third');
    clock.turn(1_000);

    expect(await firstFlush(to)).toBe('deferred');
    expect(lines()).toHaveLength(3);
  });

  it('somebody who undoes the rules as soon as they are written does not make them be written any faster', async () => {
    const { clock, to } = await almostDue();
    const { sandbox, lines, calls, state } = world;
    const edited = { kind: 'ConfigMap', apiVersion: 'v1', namespace: 'kube-system', to };
    const before = calls.length;
    for (let turn = 0; turn < 3; turn += 1) {
      await editRules(sandbox, ({ data }) => Object.assign(data ?? {}, { 'dynamic.server': `# ${turn}\n` }));
      expect(await world.tell('update', rulesName, edited)).toBe(204);
    }
    const between = calls.slice(before).map(({ verb }) => verb);

    expect(lines()).toEqual([]);
    expect(between).not.toContain('list');
    expect(between.filter((verb) => verb === 'patch')).toEqual(['patch']); // the mark
    clock.turn(1_000);
    await until(() => lines().length === 1);
    await until(() => Object.keys(owed(state())).length === 0);
  });

  it.each([
    ['its labels', ({ metadata }: ConfigMap) => Object.assign(metadata ?? {}, { labels: {} })],
    ['its claims', ({ data }: ConfigMap) => Object.assign(data ?? {}, { 'dynamic.claims': '' })],
    ['its annotations', ({ metadata }: ConfigMap) => Object.assign(metadata ?? {}, { annotations: {} })],
  ])(
    'who undoes %s and leaves the rules alone does not make them be written any faster either',
    async (_what, edit) => {
      const { clock, to } = await almostDue();
      const { sandbox, rules, calls } = world;
      const edited = { kind: 'ConfigMap', apiVersion: 'v1', namespace: 'kube-system', to };
      clock.turn(1_000);
      await editRules(sandbox, ({ metadata }) => Object.assign(metadata ?? {}, { labels: {} }));
      await world.tell('update', rulesName, edited); // mended at once: it was written long ago
      expect(rules()?.metadata?.labels).not.toEqual({});
      const before = calls.length;
      await editRules(sandbox, edit);

      expect(await world.tell('update', rulesName, edited)).toBe(204);
      expect(calls.slice(before).map(({ verb }) => verb)).not.toContain('list');
    },
  );

  it('an object whose hosts the index does not name asks for no full pass before rules may be written again', async () => {
    const { clock, tell } = await almostDue();
    const { ingress, change, calls, rules } = world;
    await ingress(
      'vast',
      Array.from({ length: 400 }, (_, index) => `host-${index}.shop.example.com`),
    );
    clock.turn(1_000);
    await tell('vast');
    clock.turn(59_000);
    const before = calls.length;
    for (const host of ['first.example.com', 'second.example.com']) {
      await change('vast', ({ spec }) => Object.assign(spec?.rules?.[0] ?? {}, { host }));
      expect(await tell('vast')).toBe(204);
    }

    expect(calls.slice(before).map(({ verb }) => verb)).not.toContain('list');
    clock.turn(1_000);
    await until(() => rules()?.data?.['dynamic.claims']?.includes('second.example.com') === true);
  });

  it('a process that ends in order writes what it owes', async () => {
    const { ingress, tell, lines, another, app } = await justWritten({ MIN_WRITE_INTERVAL_MS: '60000' });
    await ingress('early', ['early.example.com']);
    await tell('add', 'early');
    const before = lines().length;
    await app.close();
    await another();

    expect([before, lines().length]).toEqual([1, 2]);
  });

  it('a process that is killed loses nothing: the next one sees that work is owed', async () => {
    const { ingress, sandbox, lines, tell, another, state } = await justWritten();
    const environment = { MIN_WRITE_INTERVAL_MS: '60000', POD_NAMESPACE: 'kube-reflex', LOG_LEVEL: 'info' };
    const victim = await startProcess('functions/coredns-sync', {
      ...environment,
      KUBECONFIG: kubeconfigFile(sandbox),
    });
    await ingress('owed', ['owed.example.com']);
    const answer = await tellProcess(victim, 'owed');
    victim.child.kill('SIGKILL');
    await victim.exited;
    const between = lines();

    const heir = await another();
    await ingress('other', ['other.example.com']);
    await tell('add', 'other', { to: heir });

    expect(answer).toBe(204);
    expect(between).toEqual([lineOf('web.example.com')]);
    expect(Object.keys(owed(state()))).toHaveLength(1);
    expect(lines()).toEqual(['other', 'owed', 'web'].map((name) => lineOf(`${name}.example.com`)));
  });

  it('who owes for long says so again, so that nobody takes it for dead', async () => {
    const clock = turnedClock(new Date());
    world = await openWorld({ MIN_WRITE_INTERVAL_MS: '600000' }, { clock });
    const slow = await world.another({}, { now: () => clock.now() });
    await world.ingress('web', ['web.example.com']);
    await world.tell('add', 'web', { to: slow });
    await world.ingress('early', ['early.example.com']);
    await world.tell('add', 'early', { to: slow });
    clock.turn(70_000);
    await world.ingress('later', ['later.example.com']);
    expect(await world.tell('add', 'later', { to: slow })).toBe(204);

    await world.tick(); // of another process, which takes away the marks of the dead
    expect(Object.keys(owed(world.state()))).toHaveLength(1);
  });

  it('a mark is another one each time, also within a second of the server: whoever takes away the last one must fail', async () => {
    let own = Date.now();
    world = await openWorld({ MIN_WRITE_INTERVAL_MS: '600000' }, { clock: turnedClock() });
    const slow = await world.another({}, { now: () => new Date(own) });
    const marks: Record<string, string>[] = [];
    for (const name of ['web', 'early', 'later']) {
      own += 30_000;
      await world.ingress(name, [`${name}.example.com`]);
      await world.tell('add', name, { to: slow });
      marks.push(owed(world.state()));
    }

    expect(Object.keys(marks[2] ?? {})).toEqual(Object.keys(marks[1] ?? {}));
    expect(marks[2]).not.toEqual(marks[1]);
  });

  it('600 updates of status alone write nothing', async () => {
    const { change, tell, writes, sandbox } = await justWritten();
    writes();
    for (let time = 0; time < 600; time += 1) {
      const current = structuredClone(sandbox.api.get(ingresses, 'web', 'shop')) as Ingress;
      const status = { loadBalancer: { ingress: [{ ip: `192.0.2.${time % 250}` }] } };
      await sandbox.api.update(ingresses, { ...current, status } as Ingress, { subresource: 'status' });
      await tell('update', 'web');
    }
    await change('web', ({ metadata }) => Object.assign(metadata ?? {}, { labels: { app: 'web' } }));
    await tell('update', 'web');

    expect(writes()).toEqual([]);
  });

  it('two processes keep the interval between them', async () => {
    const { ingress, tell, another, lines, rules } = await justWritten({ MIN_WRITE_INTERVAL_MS: '60000' });
    const second = await another();
    const before = rules()?.metadata?.resourceVersion;
    await ingress('early', ['early.example.com']);

    expect(await tell('add', 'early', { to: second })).toBe(204);
    expect(rules()?.metadata?.resourceVersion).toBe(before);
    await second.close();
    expect(lines()).toHaveLength(2);
  });
});

/** How the first flush of a process ended. */
async function firstFlush({ url }: Running): Promise<string> {
  for (;;) {
    const metrics = await (await fetch(new URL('/metrics', url))).text();
    const [, result] = /coredns_sync_passes_total\{kind="flush",result="(\w+)"/.exec(metrics) ?? [];
    if (result !== undefined) {
      return result;
    }
  }
}

function owed(state: ConfigMap | undefined): Record<string, string> {
  return JSON.parse(state?.data?.['owed'] ?? '{}') as Record<string, string>;
}

function kubeconfigFile({ kubeconfig }: Sandbox): string {
  const file = join(mkdtempSync(join(tmpdir(), 'coredns-sync-')), 'kubeconfig');
  writeFileSync(file, JSON.stringify(kubeconfig));
  return file;
}

async function tellProcess({ url }: FunctionProcess, name: string): Promise<number> {
  const about = { kind: 'Ingress', apiVersion: 'networking.k8s.io/v1', namespace: 'shop', name };
  return (await send(url, binaryEvent({ type: 'dev.knative.apiserver.ref.add', ...about }))).status;
}

describe('MIN_WRITE_INTERVAL_MS', () => {
  it('holds for rivals of one host, too, which change no rule', async () => {
    const { ingress, tell, sandbox } = await justWritten({ MIN_WRITE_INTERVAL_MS: '60000', EMIT_EVENTS: 'false' });
    let writes = 0;
    sandbox.api.subscribe(configMaps, ({ object }) => (writes += Number(object.metadata?.name === rulesName)));
    for (let path = 0; path < 20; path += 1) {
      await ingress(`path-${path}`, ['web.example.com']);
      expect(await tell('add', `path-${path}`)).toBe(204);
    }

    expect(writes).toBe(0);
  });

  it('is not stretched by a stamp from the future', async () => {
    const { ingress, tell, sandbox, lines } = await justWritten({ MIN_WRITE_INTERVAL_MS: '60000' });
    const later = new Date(Date.now() + 3_600_000).toISOString();
    await editRules(sandbox, ({ metadata }) =>
      Object.assign(metadata?.annotations ?? {}, annotated({ 'changed-at': later, 'written-at': later })),
    );
    await ingress('more', ['more.example.com']);

    expect(await tell('add', 'more')).toBe(204);
    expect(lines()).toHaveLength(2);
  });
});
