import {
  configMaps,
  deployments,
  ingresses,
  namespaces,
  services,
  type Deployment,
  type Service,
} from '../../../lib/kube/model/resource.ts';
import type { Running } from '../../../lib/runtime/main.ts';
import { ingressOf, openWorld, until, type World } from '../../../functions/coredns-sync/test/world.ts';
import { binaryEvent, send } from '../../support/http.ts';
import { turnedClock, type TurnedClock } from '../../../lib/sandbox/test/turned-clock.ts';
import { objectsOf, restore, type Captured, type Kept, type Settings } from '../kept.ts';

/** A cluster with one process of coredns-sync whose clock, and that of the cluster, the test turns. */
export interface Site extends AsyncDisposable {
  readonly world: World;
  readonly clock: TurnedClock;
  readonly app: Running;
  readonly tick: () => Promise<number>;
  readonly rollOut: () => Promise<void>;
}

const start = new Date('2026-11-02T09:00:00Z');
const configuring: Settings = { COREDNS_AUTO_CONFIGURE: 'true' };

async function open(settings: Settings, at: Date, fill: (world: World) => unknown): Promise<Site> {
  const clock = turnedClock(at);
  const world = await openWorld(settings, { clock });
  await world.sandbox.api.create(namespaces, { metadata: { name: 'ingress-nginx' } });
  await fill(world);
  const app = await world.another({}, { now: () => clock.now() });
  async function tick(): Promise<number> {
    return (await send(app.url, binaryEvent({ type: 'dev.knative.sources.ping' }))).status;
  }
  return {
    world,
    clock,
    app,
    tick,
    rollOut: async () => {
      await finishRollout(world);
      clock.turn(60_000);
      await tick();
    },
    [Symbol.asyncDispose]: () => world[Symbol.asyncDispose](),
  };
}

/** The kept cluster, some time later, with a new process of the function. */
export function openKept(kept: Kept, laterMs: number): Promise<Site> {
  return open(kept.settings, new Date(kept.at.getTime() + laterMs), ({ sandbox }) => restore(sandbox, kept));
}

/** Every pod of CoreDNS runs with the newest template. */
async function finishRollout({ sandbox: { api } }: World): Promise<void> {
  const found = structuredClone(api.get(deployments, 'coredns', 'kube-system')) as Deployment;
  const counts = { replicas: 2, updatedReplicas: 2, readyReplicas: 2, availableReplicas: 2 };
  const status = { observedGeneration: found.metadata?.generation ?? 1, ...counts };
  await api.update(deployments, { ...found, status } as Deployment, { subresource: 'status' });
}

function captured({ world, clock }: Site, settings: Settings): Captured {
  const identity = ['uid', 'resourceVersion'] as const;
  return {
    at: clock.now(),
    settings,
    objects: objectsOf(world.sandbox, { kinds: [services, ingresses, configMaps, deployments], identity }),
  };
}

/** Hosts of several Ingresses: a wildcard, one that two of them claim, and one that is refused. */
async function fill({ ingress, sandbox }: World, clock?: TurnedClock): Promise<void> {
  const metadata = { name: 'ingress-nginx-controller', namespace: 'ingress-nginx' };
  const spec = { clusterIP: '10.96.0.80', clusterIPs: ['10.96.0.80'], ports: [{ port: 80 }] };
  await sandbox.api.create(services, { metadata, spec } as Service);
  await ingress('web', ['web.example.com', 'shared.example.com']);
  clock?.turn(1_000);
  await ingress('late', ['shared.example.com', 'late.example.com']);
  await ingress('wild', ['*.apps.example.com'], { namespace: 'prod' });
  await ingress('odd', ['odd.svc.cluster.local', 'even.example.com'], { namespace: 'a' });
  await ingress('off', ['off.example.com'], { annotations: { 'coredns-ingress-sync-enabled': 'false' } });
}

/** A CoreDNS that can take rules of every mode. */
async function useZones({ sandbox: { api } }: World): Promise<void> {
  const found = structuredClone(api.get(deployments, 'coredns', 'kube-system')) as Deployment;
  const [container] = found.spec?.template.spec?.containers ?? [];
  Object.assign(container ?? {}, { image: 'registry.k8s.io/coredns/coredns:v1.13.1' });
  await api.update(deployments, found);
}

async function integrated(settings: Settings): Promise<Site> {
  const site = await open(settings, start, () => undefined);
  await fill(site.world, site.clock);
  await useZones(site.world);
  site.clock.turn(60_000);
  await site.tick();
  for (let rollouts = 0; rollouts < 8; rollouts += 1) {
    await site.rollOut();
  }
  return site;
}

async function atRest(settings: Settings = configuring): Promise<Captured> {
  await using site = await integrated(settings);
  return captured(site, settings);
}

/** CoreDNS was just given the volume, and its pods are still the old ones. */
async function rollingOut(): Promise<Captured> {
  await using site = await open(configuring, start, (world) => fill(world));
  await site.tick();
  return captured(site, configuring);
}

/** An event was answered, and its rules wait until the ConfigMap may be written again. */
async function owed(): Promise<Captured> {
  const settings = { ...configuring, MIN_WRITE_INTERVAL_MS: '60000' };
  await using site = await integrated(settings);
  const { world, app, clock } = site;
  await world.ingress('first', ['first.example.com']);
  await world.tell('add', 'first', { to: app });
  clock.turn(30_000);
  await world.ingress('early', ['early.example.com']);
  await world.tell('add', 'early', { to: app });
  await until(() => (world.state()?.data?.['owed'] ?? '').includes('2026'));
  return captured(site, settings);
}

/** Most Ingresses went at once, which has to be seen twice. */
async function removal(): Promise<Captured> {
  await using site = await integrated(configuring);
  const hosts = Array.from({ length: 20 }, (_, index) => `many-${index}.example.com`);
  await site.world.ingress('many', hosts);
  site.clock.turn(60_000);
  await site.tick();
  await site.world.remove('many');
  site.clock.turn(60_000);
  await site.tick();
  return captured(site, configuring);
}

/** Hosts so long that their rules and their index need several ConfigMaps; of one Ingress the index holds none. */
async function sharded(): Promise<Captured> {
  const settings = { ...configuring, SHARD_BYTES: '16384' };
  await using site = await open(settings, start, () => undefined);
  const { world, clock } = site;
  for (const [name, length] of Object.entries({ one: 30, two: 30, three: 30, four: 30, vast: 45 })) {
    const hosts = Array.from({ length }, (_, index) => longHost(`${name}-${index}`));
    await world.sandbox.api.create(ingresses, ingressOf(name, hosts));
  }
  clock.turn(60_000);
  await site.tick();
  for (let rollouts = 0; rollouts < 4; rollouts += 1) {
    await site.rollOut();
  }
  return captured(site, settings);
}

function longHost(name: string): string {
  return [name, ...Array.from({ length: 3 }, () => 'x'.repeat(60)), 'example.com'].join('.');
}

export const scenarios: Readonly<Record<string, () => Promise<Captured>>> = {
  'at-rest': () => atRest(),
  ...Object.fromEntries(
    ['grouped', 'template', 'hosts', 'zone', 'zoneblocks'].map((mode) => [
      mode,
      () => atRest({ ...configuring, RENDER_MODE: mode }),
    ]),
  ),
  'rolling-out': rollingOut,
  owed,
  removal,
  sharded,
};
