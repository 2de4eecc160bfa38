import {
  configMaps,
  controllerRevisions,
  deployments,
  mutatingWebhooks,
  namespaces,
  pods,
  replicaSets,
  statefulSets,
  type MutatingWebhookConfiguration,
} from '../../../lib/kube/model/resource.ts';
import type { KubeObject } from '../../../lib/kube/model/wire.ts';
import { newImage, oldImage, patchedTo, until } from '../../../functions/istio-rollout/test/objects.ts';
import { World } from '../../../functions/istio-rollout/test/world.ts';
import { objectsOf, restore, type Captured, type Kept, type Settings } from '../kept.ts';
import { forward, forwardedPort } from './forward.ts';

export interface Site extends AsyncDisposable {
  readonly world: World;
}

const priority = 'istio-rollout.kube-reflex.dev/priority';
const webhooksName = 'istio-sidecar-injector';

/** A mesh whose injector has an address that never changes: the state holds a digest of it. */
async function open(settings: Settings): Promise<Site> {
  const world = await World.open(settings);
  const forwarding = await forward(world.injector.port);
  await address(world);
  return {
    world,
    [Symbol.asyncDispose]: async () => {
      await world.close();
      await forwarding[Symbol.asyncDispose]();
    },
  };
}

/** The authority of the injector is no part of that digest. */
function address(world: World): Promise<void> {
  const { caBundle } = world.injector.clientConfig;
  const clientConfig = { url: `https://127.0.0.1:${forwardedPort}/inject`, caBundle };
  return world.change<MutatingWebhookConfiguration>(mutatingWebhooks, [webhooksName], (object) => ({
    ...object,
    webhooks: (object.webhooks ?? []).map((each) => ({ ...each, clientConfig })),
  }));
}

/** The kept cluster at the time when it was kept, with the new version of the mesh. */
export async function openKept(kept: Kept): Promise<Site> {
  const site = await open(kept.settings);
  const { world } = site;
  world.injector.behave({ image: newImage });
  world.turn((kept.at.getTime() - world.now().getTime()) / 1000);
  restore(world.sandbox, kept);
  await address(world);
  return site;
}

function captured({ sandbox, now }: { sandbox: World['sandbox']; now: Date }, settings: Settings): Captured {
  const workloads = [deployments, replicaSets, statefulSets, controllerRevisions, pods];
  const kinds = [namespaces, configMaps, mutatingWebhooks, ...workloads];
  function only({ metadata }: KubeObject): boolean {
    return !/^(default$|kube-)/.test(metadata?.name ?? '');
  }
  return { at: now, settings, objects: objectsOf(sandbox, { kinds, only, identity: ['uid'] }) };
}

/** Deployments whose proxies a new version of the mesh has just outdated; they come up in this order. */
async function outdated(settings: Settings, names: readonly string[]): Promise<Site> {
  const site = await open(settings);
  for (const [index, name] of names.entries()) {
    await site.world.deployment(name, { annotations: { [priority]: String(index) } });
  }
  await site.world.tick();
  await site.world.upgrade();
  return site;
}

async function after(
  settings: Settings,
  names: readonly string[],
  work: (world: World) => Promise<unknown>,
): Promise<Captured> {
  await using site = await outdated(settings, names);
  const { world } = site;
  await work(world);
  return captured({ sandbox: world.sandbox, now: world.now() }, settings);
}

const oneByOne: Settings = { MAX_IN_FLIGHT: '1' };
const twoAtOnce: Settings = { MAX_IN_FLIGHT: '2', MAX_IN_FLIGHT_PER_NAMESPACE: '2' };

/** The first restart was made and its pod is not ready; two workloads wait. */
async function patched(world: World): Promise<void> {
  world.breakPods(newImage, 'a');
  await world.tickLater(15);
  await until('the new pod is there', () => world.podsOf('a').length === 2);
}

/** The process died at its first restart: before the patch arrived, or after that. */
async function dying(world: World, when: 'before' | 'after'): Promise<void> {
  world.sandbox.faults.add({ verb: 'patch', resource: 'deployments', times: 1, effect: { do: 'cut', when } });
  await world.tickLater(15);
  await world.settle();
}

/** The rollout of the first failed, which pauses the run; the second is done, and there would be room for the third. */
async function paused(world: World): Promise<void> {
  await patched(world);
  await until('the second is done', () => world.isSettled(deployments, 'b') && world.imagesOf('b')[0] === newImage);
  await world.tickLater(1200);
}

/** Whatever is restarted gets the old proxy again. */
async function inVain(world: World): Promise<void> {
  keepOld(world);
  for (let ticks = 0; ticks < 8; ticks += 1) {
    await world.tickLater(400);
    await world.settle();
  }
}

function keepOld({ injector }: World): void {
  injector.behave({
    answer: ({ dryRun, object }) => (dryRun === true ? undefined : patchedTo(object ?? {}, oldImage)),
  });
}

/** One of two pods was evicted, and its replacement is there: only the state says which one has yet to go. */
async function evicting(): Promise<Captured> {
  const settings = { ON_DELETE_ACTION: 'evict', COOLDOWN: '0' };
  await using site = await open(settings);
  const { world } = site;
  await world.workload(statefulSets, 'db', { replicas: 2, spec: { updateStrategy: { type: 'OnDelete' } } });
  await world.tick();
  await world.upgrade();
  await world.tickLater(15);
  await until('the first is replaced', () => world.imagesOf('db').includes(newImage));
  await until('two pods', () => world.podsOf('db').length === 2 && world.isSettled(statefulSets, 'db'));
  return captured({ sandbox: world.sandbox, now: world.now() }, settings);
}

export const scenarios: Readonly<Record<string, () => Promise<Captured>>> = {
  'at-rest': () => after({}, ['a', 'b'], (world) => world.drive()),
  pending: () => after({}, ['a'], () => Promise.resolve()),
  patched: () => after(oneByOne, ['a', 'b', 'c'], patched),
  'patch-lost': () => after(oneByOne, ['a', 'b'], (world) => dying(world, 'before')),
  'patch-unconfirmed': () => after(oneByOne, ['a', 'b'], (world) => dying(world, 'after')),
  paused: () => after(twoAtOnce, ['a', 'b', 'c'], paused),
  'in-vain': () => after({ COOLDOWN: '1m' }, ['a'], inVain),
  evicting,
};
