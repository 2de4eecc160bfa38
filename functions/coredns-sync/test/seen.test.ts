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
import { lineOf, openWorld, type Environment, type World } from './world.ts';

const configMapEvent = { kind: 'ConfigMap', apiVersion: 'v1', namespace: 'kube-system' };
const deploymentEvent = { kind: 'Deployment', apiVersion: 'apps/v1', namespace: 'kube-system' };
const ourImport = 'import /etc/coredns/custom/coredns-ingress-sync/*.server';

let world: World;
afterEach(async () => world[Symbol.asyncDispose]());

async function open(environment: Environment = {}): Promise<void> {
  world = await openWorld({ COREDNS_AUTO_CONFIGURE: 'true', MIN_WRITE_INTERVAL_MS: '0', ...environment });
}

function dataOf(name: string): Readonly<Record<string, string>> {
  return (world.sandbox.api.get(configMaps, name, 'kube-system') as ConfigMap | undefined)?.data ?? {};
}

async function write(name: string, data: Readonly<Record<string, string>>): Promise<void> {
  const current = structuredClone(world.sandbox.api.get(configMaps, name, 'kube-system'));
  await world.sandbox.api.update(configMaps, { ...current, data } as ConfigMap);
}

/** A cluster whose users add to the Corefile by a ConfigMap. */
async function openManaged(mountPath = '/etc/coredns/custom'): Promise<void> {
  await open();
  const { Corefile = '' } = dataOf('coredns');
  const importing = Corefile.replace('    reload\n', '    reload\n    import /etc/coredns/custom/*.override\n');
  await write('coredns', { Corefile: importing });
  const object = structuredClone(world.sandbox.api.get(deployments, 'coredns', 'kube-system')) as Deployment;
  const pod = object.spec?.template.spec;
  pod?.volumes?.push({ name: 'custom', configMap: { name: 'coredns-custom', optional: true } });
  pod?.containers[0]?.volumeMounts?.push({ name: 'custom', mountPath });
  await world.sandbox.api.update(deployments, object);
  const metadata = { name: 'coredns-custom', namespace: 'kube-system' };
  await world.sandbox.api.create(configMaps, { metadata, data: { 'mine.override': 'log\n' } } as ConfigMap);
  await world.ingress('web', ['api.example.com']);
  await world.tick();
  await world.tell('update', 'coredns-custom', configMapEvent);
}

describe('an event about CoreDNS is not taken for one that was seen', () => {
  it('when an import that was lost while a pod was away waits for the pod', async () => {
    await open();
    await world.ingress('web', ['api.example.com']);
    await world.tick();
    await world.rollOut();
    const { Corefile = '' } = dataOf('coredns');
    await setAvailable(1);
    await write('coredns', { Corefile: Corefile.replace(`    ${ourImport}\n`, '') });
    await world.tell('update', 'coredns', configMapEvent);
    const waiting = world.conditions();
    await setAvailable(2);

    expect(waiting).toHaveProperty('RollingOut');
    expect(dataOf('coredns')['Corefile']).toContain(ourImport);
  });

  async function setAvailable(availableReplicas: number): Promise<void> {
    const object = structuredClone(world.sandbox.api.get(deployments, 'coredns', 'kube-system')) as Deployment;
    const status = { ...object.status, availableReplicas };
    await world.sandbox.api.update(deployments, { ...object, status } as Deployment, { subresource: 'status' });
    await world.tell('update', 'coredns', deploymentEvent);
  }

  it('when somebody puts back what coredns-custom held before an increment', async () => {
    await openManaged();
    const before = dataOf('coredns-custom');
    await world.ingress('more', ['more.example.com']);
    await world.tell('add', 'more');
    await write('coredns-custom', before);
    await world.tell('update', 'coredns-custom', configMapEvent); // of our write
    await world.tell('update', 'coredns-custom', configMapEvent); // of theirs

    expect(dataOf('coredns-custom')['coredns-sync.override']).toContain(lineOf('more.example.com'));
  });

  it('when somebody takes rules out of the Corefile right after the pass that put them there', async () => {
    await open({ INTEGRATION_MODE: 'inline' });
    const before = dataOf('coredns');
    await world.ingress('web', ['api.example.com']);
    await world.tick();
    await write('coredns', before);
    await world.tell('update', 'coredns', configMapEvent);

    expect(dataOf('coredns')['Corefile']).toContain(lineOf('api.example.com'));
  });

  it('when the pass that it asked for failed', async () => {
    await open({ RENDER_MODE: 'hosts' });
    const { api, faults } = world.sandbox;
    const place = { name: 'ingress-nginx-controller', namespace: 'ingress-nginx' };
    function service(clusterIP: string): Service {
      return { metadata: place, spec: { clusterIP, clusterIPs: [clusterIP], ports: [{ port: 80 }] } };
    }
    await api.create(namespaces, { metadata: { name: place.namespace } });
    await api.create(services, service('10.96.0.80'));
    await world.ingress('web', ['api.example.com']);
    await world.tick();
    await world.rollOut();
    await api.remove(services, place);
    await api.create(services, service('10.96.0.81'));
    const effect = { do: 'refuse', status: 500 } as const;
    faults.add({ verb: 'get', resource: 'configmaps', name: 'coredns-sync-records-0', times: 1, effect });
    const about = { kind: 'Service', apiVersion: 'v1', namespace: place.namespace };
    const answers = [await world.tell('add', place.name, about), await world.tell('add', place.name, about)];

    expect(answers).toEqual([503, 204]);
    expect(world.rules()?.data?.['dynamic.hosts']).toContain('10.96.0.81');
  });
});

describe('coredns-custom', () => {
  it('is written once for a host: the event of that write writes nothing', async () => {
    await openManaged();
    await world.ingress('more', ['more.example.com']);
    await world.tell('add', 'more');
    world.writes();
    await world.tell('update', 'coredns-custom', configMapEvent);

    expect(world.writes()).toEqual([]);
  });

  it('is found where its mount path ends with a slash', async () => {
    await openManaged('/etc/coredns/custom/');
    const { spec } = world.sandbox.api.get(deployments, 'coredns', 'kube-system') as Deployment;

    expect(spec?.template.spec?.volumes?.map(({ name }) => name)).toEqual(['config-volume', 'custom']);
    expect(dataOf('coredns-custom')['coredns-sync.override']).toContain(lineOf('api.example.com'));
  });
});
