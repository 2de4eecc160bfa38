import { afterEach, describe, expect, it } from '@jest/globals';
import {
  configMaps,
  deployments,
  namespaces,
  services,
  type ConfigMap,
  type Deployment,
  type Service,
} from '../../../lib/kube/model/resource.ts';
import { openWorld, target, type Environment, type World } from './world.ts';
import { binaryEvent, send } from '../../../test/support/http.ts';
import { turnedClock } from '../../../lib/sandbox/test/turned-clock.ts';

const blocksImport = 'import /etc/coredns/custom/coredns-ingress-sync/*.blocks';
const service = { name: 'ingress-nginx-controller', namespace: 'ingress-nginx' };
const serviceEvent = { kind: 'Service', apiVersion: 'v1', namespace: service.namespace };

let world: World;
afterEach(async () => world[Symbol.asyncDispose]());

async function open(environment: Environment, version = '1.15.0', options = {}): Promise<void> {
  const common = { MIN_WRITE_INTERVAL_MS: '0', COREDNS_AUTO_CONFIGURE: 'true' };
  world = await openWorld({ ...common, ...environment }, options);
  await world.sandbox.api.create(namespaces, { metadata: { name: service.namespace } });
  await expose('10.96.0.80');
  const object = structuredClone(world.sandbox.api.get(deployments, 'coredns', 'kube-system')) as Deployment;
  const [container] = object.spec?.template.spec?.containers ?? [];
  Object.assign(container ?? {}, { image: `registry.k8s.io/coredns/coredns:v${version}` });
  await world.sandbox.api.update(deployments, object);
  await world.ingress('web', ['api.example.com', '*.apps.example.com', 'x.apps.example.com']);
  await world.tick();
  await world.rollOut();
}

async function expose(...clusterIPs: readonly string[]): Promise<void> {
  const spec = { clusterIP: clusterIPs[0] ?? 'None', clusterIPs: [...clusterIPs], ports: [{ port: 80 }] };
  const object: Service = { metadata: service, spec };
  await world.sandbox.api.create(services, object);
}

/** The lines of one file of the rules, without comments. */
function file(extension: string): readonly string[] | undefined {
  return world
    .rules()
    ?.data?.[`dynamic.${extension}`]?.split('\n')
    .filter((line) => /^[^#;]/.test(line));
}

function corefile(): string {
  const object = world.sandbox.api.get(configMaps, 'coredns', 'kube-system') as ConfigMap | undefined;
  return object?.data?.['Corefile'] ?? '';
}

function modeNow(): string | undefined {
  return world.rules()?.metadata?.annotations?.['coredns-sync.kube-reflex.dev/render-mode'];
}

describe('RENDER_MODE=hosts', () => {
  it('serves addresses of the target from a file, and follows the Service', async () => {
    await open({ RENDER_MODE: 'hosts' });
    const first = file('hosts');
    await world.sandbox.api.remove(services, service);
    await expose('10.96.0.81', 'fd00::81');
    await world.tell('add', service.name, serviceEvent);

    expect(first).toEqual(['10.96.0.80 api.example.com']);
    expect(file('server')).toContain('hosts /etc/coredns/custom/coredns-ingress-sync/dynamic.hosts . {');
    expect(file('hosts')).toEqual(['10.96.0.81 api.example.com', 'fd00::81 api.example.com']);
  });

  it('is true to addresses that another process has found', async () => {
    await open({ RENDER_MODE: 'hosts' });
    const other = await world.another();
    await world.ingress('first', ['first.example.com']);
    await world.tell('add', 'first', { to: other });
    await world.sandbox.api.remove(services, service);
    await expose('10.96.0.81');
    await world.tell('add', service.name, serviceEvent);
    await world.ingress('second', ['second.example.com']);
    await world.tell('add', 'second', { to: other });

    expect(file('hosts')).toEqual(['api', 'first', 'second'].map((name) => `10.96.0.81 ${name}.example.com`));
  });

  it('keeps the last addresses of a Service that is gone, and says so', async () => {
    await open({ RENDER_MODE: 'hosts' });
    await world.sandbox.api.remove(services, service);
    await world.tick();

    expect(file('hosts')).toEqual(['10.96.0.80 api.example.com']);
    expect(world.conditions()).toHaveProperty('TargetMissing');
  });

  it('gives way to templates where no target has an address, and says why', async () => {
    await open({ RENDER_MODE: 'hosts', TARGET_CNAME: 'headless.ingress-nginx.svc.cluster.local.' });

    expect(modeNow()).toBe('template');
    expect(world.conditions()['RenderMode']).toContain('no target is a Service with a ClusterIP');
  });

  it('gives way to templates where the Corefile has hosts of its own, and says why', async () => {
    await open({ RENDER_MODE: 'hosts' });
    const object = structuredClone(world.sandbox.api.get(configMaps, 'coredns', 'kube-system')) as ConfigMap;
    const text = corefile().replace('    errors\n', '    errors\n    hosts /etc/coredns/NodeHosts {\n    }\n');
    await world.sandbox.api.update(configMaps, { ...object, data: { Corefile: text } } as ConfigMap);
    await world.tell('update', 'coredns', { kind: 'ConfigMap', apiVersion: 'v1', namespace: 'kube-system' });

    expect(modeNow()).toBe('template');
    expect(file('hosts')).toBeUndefined();
    expect(world.conditions()['RenderMode']).toContain('can have only one');
  });

  it('writes nothing on a tick that finds nothing new, and takes one event for one host', async () => {
    await open({ RENDER_MODE: 'hosts' });
    world.writes();
    await world.tick();
    const quiet = world.writes();
    await world.ingress('more', ['more.example.com']);
    await world.tell('add', 'more');

    expect(quiet).toEqual([]);
    expect(file('hosts')).toEqual(['10.96.0.80 api.example.com', '10.96.0.80 more.example.com']);
  });
});

describe('RENDER_MODE=zone', () => {
  it('serves aliases from a zone', async () => {
    await open({ RENDER_MODE: 'zone' });

    expect(file('zone')?.[1]).toBe(`api.example.com. 30 IN CNAME ${target}`);
    expect(file('server')).toContain('file /etc/coredns/custom/coredns-ingress-sync/dynamic.zone . {');
  });

  it('CS-44 gives way to templates before 1.12.2, and says why', async () => {
    await open({ RENDER_MODE: 'zone' }, '1.12.1');

    expect(modeNow()).toBe('template');
    expect(world.conditions()['RenderMode']).toContain('needs CoreDNS 1.12.2');
  });
});

describe('RENDER_MODE=zoneblocks', () => {
  it('imports blocks beside those of the Corefile, and uses them once every CoreDNS has read the import', async () => {
    const clock = turnedClock();
    await open({ RENDER_MODE: 'zoneblocks' }, '1.15.0', { clock });
    const early = modeNow();
    const text = corefile();
    clock.turn(200_000);
    await world.tick();

    expect(text.trimEnd().split('\n').at(-1)).toBe(blocksImport);
    expect(early).toBe('template');
    expect(modeNow()).toBe('zoneblocks');
    expect(file('blocks')?.slice(0, 1)).toEqual(['api.example.com:53 {']);
    expect(file('blocks')?.join('\n')).toContain(
      '    forward . /etc/resolv.conf {\n        max_concurrent 1000\n    }\n}',
    );
    expect(world.conditions()).not.toHaveProperty('RenderMode');
  });

  it('leaves the names of the cluster to the root, whatever is claimed above them', async () => {
    const clock = turnedClock();
    await open({ RENDER_MODE: 'zoneblocks' }, '1.15.0', { clock });
    await world.ingress('above', ['local', 'arpa', 'shop.local']);
    clock.turn(200_000);
    await world.tick();

    expect(modeNow()).toBe('zoneblocks');
    expect(file('blocks')?.filter((line) => /local|arpa/.test(line) && /^\S/.test(line))).toEqual(['shop.local:53 {']);
    expect(file('server')?.join('\n')).toContain('match ^(?:arpa|local)\\.$');
  });

  it('is cleaned up whole', async () => {
    const clock = turnedClock();
    await open({ RENDER_MODE: 'zoneblocks' }, '1.15.0', { clock });
    clock.turn(200_000);
    await world.tick();
    const annotations = { 'coredns-sync.kube-reflex.dev/cleanup': 'requested' };
    const { metadata, ...state } = structuredClone(world.state()) ?? {};
    await world.sandbox.api.update(configMaps, { ...state, metadata: { ...metadata, annotations } });
    await world.tick();
    await world.rollOut();
    await world.tick();

    expect(corefile()).not.toContain('import');
    expect(world.rules()).toBeUndefined();
  });
});

describe('a mode with files of its own', () => {
  it.each(['hosts', 'zone', 'zoneblocks'])('is not %s where the Corefile imports what nobody can see', async (mode) => {
    const clock = turnedClock();
    await open({ RENDER_MODE: mode }, '1.15.0', { clock });
    const object = structuredClone(world.sandbox.api.get(configMaps, 'coredns', 'kube-system')) as ConfigMap;
    const text = corefile().replace('    errors\n', '    errors\n    import /etc/coredns/theirs/*.conf\n');
    await world.sandbox.api.update(configMaps, { ...object, data: { Corefile: text } } as ConfigMap);
    clock.turn(200_000);
    await world.tick();

    expect(modeNow()).toBe('template');
    expect(world.conditions()['RenderMode']).toContain('that we can not see');
  });
});

describe('another mode', () => {
  it.each(['exact', 'zone'])('takes over from hosts without a trace: %s', async (mode) => {
    await open({ RENDER_MODE: 'hosts' });
    const next = await world.another({ RENDER_MODE: mode });
    const answer = await send(next.url, binaryEvent({ type: 'dev.knative.sources.ping' }));

    expect(answer.status).toBe(204);
    expect(modeNow()).toBe(mode);
    expect(file('hosts')).toBeUndefined();
    expect([...(file('server') ?? []), ...(file('zone') ?? [])].join('\n')).toContain('api.example.com');
  });
});
