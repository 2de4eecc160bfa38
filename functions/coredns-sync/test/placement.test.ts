import { afterEach, describe, expect, it } from '@jest/globals';
import { configMaps, deployments, type ConfigMap, type Deployment } from '../../../lib/kube/model/resource.ts';
import { lineOf, openWorld, type Environment, type World } from './world.ts';

let world: World;
afterEach(async () => world[Symbol.asyncDispose]());

function read(name: string): ConfigMap {
  return structuredClone(world.sandbox.api.get(configMaps, name, 'kube-system')) as ConfigMap;
}

async function write(name: string, data: Record<string, string>): Promise<void> {
  await world.sandbox.api.update(configMaps, { ...read(name), data } as ConfigMap);
}

function custom(): string {
  return read('coredns-custom').data?.['coredns-sync.override'] ?? '';
}

const marks = { labels: { team: 'dns' }, annotations: { 'example.com/ticket': '7' } };

/** A managed cluster, whose users may add to the root block by `coredns-custom`. */
async function openManaged(environment: Environment = {}): Promise<void> {
  world = await openWorld({ COREDNS_AUTO_CONFIGURE: 'true', MIN_WRITE_INTERVAL_MS: '0', ...environment });
  const { Corefile = '' } = read('coredns').data ?? {};
  await write('coredns', {
    Corefile: Corefile.replace('    reload\n', '    reload\n    import /etc/coredns/custom/*.override\n'),
  });
  const object = structuredClone(world.sandbox.api.get(deployments, 'coredns', 'kube-system')) as Deployment;
  const pod = object.spec?.template.spec;
  pod?.volumes?.push({ name: 'custom', configMap: { name: 'coredns-custom', optional: true } });
  pod?.containers[0]?.volumeMounts?.push({ name: 'custom', mountPath: '/etc/coredns/custom' });
  await world.sandbox.api.update(deployments, object);
  const theirs: ConfigMap = {
    metadata: { name: 'coredns-custom', namespace: 'kube-system', ...marks },
    data: { 'mine.override': 'log\n' },
  };
  await world.sandbox.api.create(configMaps, theirs);
  await world.ingress('web', ['api.example.com']);
  await world.tick();
}

describe('rules in coredns-custom', () => {
  it('come back with the tick when somebody took them out', async () => {
    await openManaged();
    const before = custom();
    await write('coredns-custom', { 'mine.override': 'log\n' });
    await world.tick();

    expect(before).toContain(lineOf('api.example.com'));
    expect(custom()).toBe(before);
    expect(read('coredns-custom').data?.['mine.override']).toBe('log\n');
  });

  it('CS-32 are all that changes there: labels and annotations stay', async () => {
    await openManaged();
    await world.ingress('more', ['more.example.com']);
    await world.tell('add', 'more');

    const { metadata, data = {} } = read('coredns-custom');
    expect(custom()).toContain(lineOf('more.example.com'));
    expect(Object.keys(data).sort()).toEqual(['coredns-sync.override', 'mine.override']);
    expect({ labels: metadata?.labels, annotations: metadata?.annotations }).toEqual(marks);
  });

  it('are left to somebody who keeps taking them out', async () => {
    await openManaged({ MAX_HEALS_PER_HOUR: '1' });
    for (let turn = 0; turn < 3; turn += 1) {
      await write('coredns-custom', { 'mine.override': 'log\n' });
      await world.tick();
    }

    expect(custom()).toBe('');
    expect(world.conditions()['Contended']).toContain('import_statement');
  });

  it('are written by the repetition of an event that could not write them', async () => {
    await openManaged();
    world.sandbox.faults.add({
      ...{ verb: 'patch', resource: 'configmaps', name: 'coredns-custom', times: 1 },
      effect: { do: 'refuse', status: 500 },
    });
    await world.ingress('more', ['more.example.com']);
    const first = await world.tell('add', 'more');
    const second = await world.tell('add', 'more');

    expect([first, second]).toEqual([503, 204]);
    expect(custom()).toContain(lineOf('more.example.com'));
  });

  it('hold up no event where they may not be written, which is said', async () => {
    await openManaged();
    const effect = { do: 'refuse', status: 403 } as const;
    world.sandbox.faults.add({ verb: 'patch', resource: 'configmaps', name: 'coredns-custom', effect });
    await world.ingress('more', ['more.example.com']);

    expect(await world.tell('add', 'more')).toBe(204);
    expect(world.lines()).toContain(lineOf('more.example.com'));
    expect(world.conditions()).toHaveProperty('DnsForbidden');
    expect(await world.tick()).toBe(204);
    world.sandbox.faults.clear();
    await world.tick();
    expect(custom()).toContain(lineOf('more.example.com'));
    expect(world.conditions()).not.toHaveProperty('DnsForbidden');
  });

  it('stay in one ConfigMap, however many there are: CoreDNS would see no other', async () => {
    await openManaged();
    const other = await world.another({ SHARD_BYTES: '4096' });
    const hosts = Array.from({ length: 250 }, (_, index) => `h${index}.example.com`);
    await world.ingress('many', hosts);
    await world.tell('add', 'many', { to: other });

    expect(world.rules(1)).toBeUndefined();
    expect(custom()).toContain('h249');
  });
});

describe('a managed cluster that may not be configured', () => {
  it('says in the state and before the start that CoreDNS has none of the rules', async () => {
    await openManaged({ COREDNS_AUTO_CONFIGURE: 'false' });
    const checks = await (await fetch(new URL('/preflight', world.app.url))).text();

    expect(world.lines()).toEqual([lineOf('api.example.com')]);
    expect(custom()).toBe('');
    expect(world.conditions()['NotConfigured']).toContain('coredns-sync.override of the ConfigMap coredns-custom');
    expect(checks).toContain('NotConfigured');
  });
});

describe('rules inside the Corefile', () => {
  const inline: Environment = {
    ...{ COREDNS_AUTO_CONFIGURE: 'true', INTEGRATION_MODE: 'inline', MIN_WRITE_INTERVAL_MS: '0' },
  };

  it('come back with the tick when somebody took them out', async () => {
    world = await openWorld(inline);
    const { Corefile: bare = '' } = read('coredns').data ?? {};
    await world.ingress('web', ['api.example.com']);
    await world.tick();
    const { Corefile: full = '' } = read('coredns').data ?? {};
    await write('coredns', { Corefile: bare });
    await world.tick();

    expect(full).toContain(`    ${lineOf('api.example.com')}\n`);
    expect(read('coredns').data?.['Corefile']).toBe(full);
  });

  it('are left to somebody who keeps taking them out, and that is said without writing for ever', async () => {
    world = await openWorld({ ...inline, MAX_HEALS_PER_HOUR: '2' });
    const { Corefile: bare = '' } = read('coredns').data ?? {};
    await world.ingress('web', ['api.example.com']);
    await world.tick();
    for (let turn = 0; turn < 4; turn += 1) {
      await write('coredns', { Corefile: bare });
      await world.tick();
    }
    world.writes();
    await world.tick();

    expect(read('coredns').data?.['Corefile']).toBe(bare);
    expect(world.conditions()['Contended']).toContain('import_statement');
    expect(world.writes()).toEqual([]);
  });
});

describe('cleaning up where it may not configure', () => {
  async function requestCleanup(): Promise<number> {
    const { metadata, ...state } = structuredClone(world.state()) ?? {};
    const annotations = { 'coredns-sync.kube-reflex.dev/cleanup': 'requested' };
    await world.sandbox.api.update(configMaps, { ...state, metadata: { ...metadata, annotations } });
    return world.tick();
  }

  it('removes the rules that nobody imports, and touches nothing else', async () => {
    world = await openWorld();
    await world.ingress('web', ['api.example.com']);
    await world.tick();
    await world.rollOut();
    world.writes();

    expect(await requestCleanup()).toBe(204);
    expect(world.rules()).toBeUndefined();
    expect(world.writes().filter((call) => call.includes('deployments'))).toEqual([]);
  });

  it('keeps rules that somebody imports by hand, since CoreDNS may not start without them, and says who must act', async () => {
    world = await openWorld();
    const { Corefile = '' } = read('coredns').data ?? {};
    const text = Corefile.replace('.:53 {\n', '.:53 {\n    import /etc/coredns/custom/coredns-ingress-sync/*.server\n');
    await write('coredns', { Corefile: text });
    await world.ingress('web', ['api.example.com']);
    await world.tick();

    expect(await requestCleanup()).toBe(503);
    expect(world.rules()).toBeDefined();
    expect(read('coredns').data?.['Corefile']).toBe(text);
    expect(world.state()?.data?.['cleanup']).toContain('COREDNS_AUTO_CONFIGURE=true');
  });
});
