import { afterEach, describe, expect, it } from '@jest/globals';
import { configMaps, deployments, type ConfigMap, type Deployment } from '../../../lib/kube/model/resource.ts';
import { lineOf, openWorld, rulesName, type Environment, type World } from './world.ts';
import { binaryEvent, send } from '../../../test/support/http.ts';
import { turnedClock } from '../../../lib/sandbox/test/turned-clock.ts';

const corefileEvent = { kind: 'ConfigMap', apiVersion: 'v1', namespace: 'kube-system' };
const deploymentEvent = { kind: 'Deployment', apiVersion: 'apps/v1', namespace: 'kube-system' };
const ourImport = 'import /etc/coredns/custom/coredns-ingress-sync/*.server';

let world: World;

async function open(environment: Environment = {}, options = {}): Promise<World> {
  world = await openWorld({ MIN_WRITE_INTERVAL_MS: '0', ...environment }, options);
  return world;
}

afterEach(async () => world[Symbol.asyncDispose]());

function corefile(): string {
  const object = world.sandbox.api.get(configMaps, 'coredns', 'kube-system') as ConfigMap | undefined;
  return object?.data?.['Corefile'] ?? '';
}

function deployment(): Deployment {
  return world.sandbox.api.get(deployments, 'coredns', 'kube-system') as Deployment;
}

async function editCorefile(edit: (text: string) => string): Promise<void> {
  const object = structuredClone(world.sandbox.api.get(configMaps, 'coredns', 'kube-system')) as ConfigMap;
  await world.sandbox.api.update(configMaps, { ...object, data: { Corefile: edit(corefile()) } } as ConfigMap);
}

async function editDeployment(edit: (object: Deployment) => void): Promise<void> {
  const object = structuredClone(deployment());
  edit(object);
  await world.sandbox.api.update(deployments, object);
}

/** Volume, mount and import in place. */
async function configured(environment: Environment = {}, options = {}): Promise<void> {
  await open({ COREDNS_AUTO_CONFIGURE: 'true', ...environment }, options);
  await world.ingress('web', ['api.example.com']);
  await world.tick();
  await world.rollOut();
  expect(corefile()).toContain(ourImport);
}

function mountsOf(container: string): readonly string[] {
  const containers = deployment().spec?.template.spec?.containers ?? [];
  return (containers.find(({ name }) => name === container)?.volumeMounts ?? []).map(({ name }) => name);
}

describe('CoreDNS gets the rules', () => {
  it('mounts the rules, waits for the rollout, then imports them', async () => {
    await open({ COREDNS_AUTO_CONFIGURE: 'true' });
    await world.ingress('web', ['api.example.com']);
    await world.tick();
    const early = corefile();
    await world.rollOut();

    expect(early).not.toContain(ourImport);
    expect(mountsOf('coredns')).toContain('coredns-ingress-sync-volume');
    expect(corefile()).toContain(ourImport);
    expect(corefile().replace(`    ${ourImport}\n`, '')).toBe(early);
    expect(world.lines()).toEqual([lineOf('api.example.com')]);
  });

  it('CS-33 the mount lands in the container coredns beside a sidecar, and cleanup takes it from there', async () => {
    await open({ COREDNS_AUTO_CONFIGURE: 'true' });
    await editDeployment(({ spec }) => spec?.template.spec?.containers.unshift({ name: 'sidecar', image: 'sidecar' }));
    await world.tick();
    const mounted = [mountsOf('sidecar'), mountsOf('coredns')];
    await world.rollOut();
    await requestCleanup();

    expect(mounted[0]).toEqual([]);
    expect(mounted[1]).toContain('coredns-ingress-sync-volume');
    expect(mountsOf('coredns')).toEqual(['config-volume']);
  });

  it('CS-34 nothing is sent to a Deployment that is right', async () => {
    await configured();
    world.writes();
    await world.tell('update', 'coredns', deploymentEvent);
    await world.tick();

    expect(world.writes().filter((write) => !write.includes('event'))).toEqual([]);
  });

  it('CS-35 a mount path that another volume uses is left alone', async () => {
    await open({ COREDNS_AUTO_CONFIGURE: 'true' });
    await editDeployment(({ spec }) => {
      const pod = spec?.template.spec;
      pod?.volumes?.push({ name: 'theirs', emptyDir: {} });
      pod?.containers[0]?.volumeMounts?.push({ name: 'theirs', mountPath: '/etc/coredns/custom/coredns-ingress-sync' });
    });
    const before = deployment().metadata?.resourceVersion;

    expect(await world.tick()).toBe(204);
    expect(world.conditions()).toHaveProperty('MountConflict');
    expect(deployment().metadata?.resourceVersion).toBe(before);
  });

  it('CS-38 an import that somebody removes ten times is put back six times, then left until the hour is over', async () => {
    const clock = turnedClock();
    await configured({}, { clock });
    let healed = 0;
    for (let time = 0; time < 10; time += 1) {
      await editCorefile((text) => text.replace(`    ${ourImport}\n`, ''));
      clock.turn(60_000);
      await world.tell('update', 'coredns', corefileEvent);
      healed += Number(corefile().includes(ourImport));
    }

    expect(healed).toBe(6);
    expect(world.conditions()).toHaveProperty('Contended');
    clock.turn(3_600_000);
    await world.tick();
    expect(corefile()).toContain(ourImport);
    expect(world.conditions()).not.toHaveProperty('Contended');
    const metrics = await (await fetch(new URL('/metrics', world.app.url))).text();
    expect(metrics).toContain('kube_reflex_coredns_sync_drift_total{type="import_statement"} 7');
  });

  it('CS-38 who writes another Corefile each time is let win as well', async () => {
    await configured();
    const bare = corefile().replace(`    ${ourImport}\n`, '');
    let healed = 0;
    for (let time = 0; time < 10; time += 1) {
      await editCorefile(() => `# rendered at ${time}\n${bare}`);
      await world.tell('update', 'coredns', corefileEvent);
      healed += Number(corefile().includes(ourImport));
    }

    expect(healed).toBe(6);
    expect(world.conditions()).toHaveProperty('Contended');
  });

  it('counts what it writes for that', async () => {
    await configured();
    const metrics = await (await fetch(new URL('/metrics', world.app.url))).text();

    expect(metrics).toContain('writes_total{object="volume_mount",result="ok"} 1');
    expect(metrics).toContain('writes_total{object="corefile",result="ok"} 1');
  });

  it('CS-46 without a CoreDNS ConfigMap rules are written all the same', async () => {
    await open();
    await world.sandbox.api.remove(configMaps, { name: 'coredns', namespace: 'kube-system' });
    await world.ingress('web', ['api.example.com']);

    expect(await world.tell('add', 'web')).toBe(204);
    expect(world.lines()).toEqual([lineOf('api.example.com')]);
    expect(world.conditions()).toHaveProperty('NoCorefile');
  });

  it('CS-48 with auto-configure off nothing but rules is written, and what is missing is said', async () => {
    await open();
    const before = [corefile(), deployment().metadata?.resourceVersion];
    await world.ingress('web', ['api.example.com']);
    await world.tick();
    await world.tell('update', 'coredns', corefileEvent);
    await world.tell('update', 'coredns', deploymentEvent);

    expect([corefile(), deployment().metadata?.resourceVersion]).toEqual(before);
    expect(world.conditions()).toMatchObject({ NotConfigured: expect.stringContaining('import, volume, mount') });
  });

  it('CS-32 on a cluster with coredns-custom only our key of it is written', async () => {
    await open({ COREDNS_AUTO_CONFIGURE: 'true' });
    await editCorefile((text) =>
      text.replace('    reload\n', '    reload\n    import /etc/coredns/custom/*.override\n'),
    );
    await editDeployment(({ spec }) => {
      const pod = spec?.template.spec;
      pod?.volumes?.push({ name: 'custom', configMap: { name: 'coredns-custom', optional: true } });
      pod?.containers[0]?.volumeMounts?.push({ name: 'custom', mountPath: '/etc/coredns/custom' });
    });
    const custom = {
      metadata: { name: 'coredns-custom', namespace: 'kube-system' },
      data: { 'mine.override': 'log\n' },
    };
    await world.sandbox.api.create(configMaps, custom);
    const before = [corefile(), deployment().metadata?.resourceVersion];
    await world.tick();
    await world.ingress('web', ['api.example.com']);
    await world.tell('add', 'web');

    const { data = {} } = world.sandbox.api.get(configMaps, 'coredns-custom', 'kube-system') as ConfigMap;
    expect(Object.keys(data).sort()).toEqual(['coredns-sync.override', 'mine.override']);
    expect(data['mine.override']).toBe('log\n');
    expect(data['coredns-sync.override']).toContain(lineOf('api.example.com'));
    expect([corefile(), deployment().metadata?.resourceVersion]).toEqual(before);
  });

  it('writes no rules where the Corefile would read them beside its server blocks', async () => {
    await open({ DYNAMIC_CONFIGMAP_NAME: 'coredns-custom' });
    await editCorefile((text) => `${text}import /etc/coredns/custom/*.server\n`);
    await editDeployment(({ spec }) => {
      const pod = spec?.template.spec;
      pod?.volumes?.push({ name: 'custom', configMap: { name: 'coredns-custom', optional: true } });
      pod?.containers[0]?.volumeMounts?.push({ name: 'custom', mountPath: '/etc/coredns/custom' });
    });
    await world.ingress('web', ['api.example.com']);

    expect(await world.tell('add', 'web')).toBe(204);
    expect(world.sandbox.api.get(configMaps, 'coredns-custom', 'kube-system')).toBeUndefined();
    expect(world.conditions()).toHaveProperty('InvalidRender');
  });
});

/** Without a word, the annotation is removed. */
async function annotateState(cleanup?: string): Promise<void> {
  const state = structuredClone(world.state()) ?? {};
  const { 'coredns-sync.kube-reflex.dev/cleanup': _before, ...others } = state.metadata?.annotations ?? {};
  const wanted = cleanup === undefined ? {} : { 'coredns-sync.kube-reflex.dev/cleanup': cleanup };
  const annotations = { ...others, ...wanted };
  await world.sandbox.api.update(configMaps, { ...state, metadata: { ...state.metadata, annotations } });
}

async function requestCleanup(): Promise<number> {
  await annotateState('requested');
  return (await send(world.app.url, binaryEvent({ type: 'dev.kube-reflex.coredns-sync.cleanup' }))).status;
}

function report(): readonly { what: string; result: string }[] {
  return JSON.parse(world.state()?.data?.['cleanup'] ?? '[]') as { what: string; result: string }[];
}

describe('cleaning up', () => {
  it('an event alone removes nothing', async () => {
    await configured();
    await send(world.app.url, binaryEvent({ type: 'dev.kube-reflex.coredns-sync.cleanup' }));

    expect(corefile()).toContain(ourImport);
    expect(world.lines()).toEqual([lineOf('api.example.com')]);
  });

  it('CS-49 everything goes while events keep arriving, and stays away; a second run finds all absent', async () => {
    await configured();
    const second = await world.another();
    const over = new AbortController();
    const events = (async () => {
      for (let count = 0; !over.signal.aborted || count < 20; count += 1) {
        await world.ingress(`late-${count}`, [`late-${count}.example.com`]);
        await world.tell('add', `late-${count}`, count % 2 === 0 ? {} : { to: second });
      }
    })();
    expect(await requestCleanup()).toBe(204);
    await world.rollOut();
    await world.tick();
    await world.tick();
    over.abort();
    await events;
    await world.tick();

    expect(corefile()).not.toContain(ourImport);
    expect(JSON.stringify(deployment().spec)).not.toContain('coredns-ingress-sync');
    const left = world.sandbox.api.list(configMaps).map(({ metadata }) => metadata?.name ?? '');
    expect(left.filter((name) => name.startsWith(rulesName) || name.startsWith('coredns-sync-records'))).toEqual([]);
    expect(new Set(report().map(({ result }) => result))).toEqual(new Set(['absent']));
  });

  it.each([undefined, 'withdrawn'])(
    'is over when the request is withdrawn (%s), even amid the rollout',
    async (word) => {
      await configured();
      await requestCleanup();
      await annotateState(word);
      await world.tick();
      await world.app.close(); // does at once what it would have done later

      expect(JSON.stringify(deployment().spec)).toContain('coredns-ingress-sync');
      expect(world.lines()).toEqual([lineOf('api.example.com')]);
    },
  );

  it('CS-50 when the Deployment can not be changed the rules stay and the run fails', async () => {
    await configured();
    world.sandbox.faults.add({ verb: 'patch', resource: 'deployments', effect: { do: 'refuse', status: 500 } });

    expect(await requestCleanup()).toBe(503);
    expect(report()).toContainEqual(expect.objectContaining({ what: 'mount', result: 'failed' }));
    expect(world.rules()).toBeDefined();
  });
});
