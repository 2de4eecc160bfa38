import { afterEach, describe, expect, it } from '@jest/globals';
import { applications, type Application } from '../../functions/freeze-check/hold/application.ts';
import freezeCheck from '../../functions/freeze-check/index.ts';
import { changeFreezes } from '../../functions/freeze-check/policy.ts';
import { findFunctions } from '../../lib/cli/functions.ts';
import { exampleEnvironment, parseConfig } from '../../lib/function/config.ts';
import { configMaps, events, namespaces, type ConfigMap } from '../../lib/kube/model/resource.ts';
import { standardInstallation } from '../../lib/install/manifests/installation.ts';
import type { Sandbox } from '../../lib/sandbox/sandbox.ts';
import { openWorld as openDns } from '../../functions/coredns-sync/test/world.ts';
import { application, freeze, namespaceNamed, pausing } from '../../functions/freeze-check/test/objects.ts';
import { lasting, openWorld as openFreezes, type World as Freezes } from '../../functions/freeze-check/test/world.ts';
import { World as MeshWorld } from '../../functions/istio-rollout/test/world.ts';
import { openWorld as openPools } from '../../functions/node-affinity-mutate/test/world.ts';
import { leaving } from './cluster.ts';

const { namespace } = standardInstallation;
const opened: (() => PromiseLike<unknown>)[] = [];

afterEach(async () => {
  await Promise.all(opened.splice(0).map((close) => close()));
});

type Data = Readonly<Record<string, string>>;

function stateOf({ api }: Sandbox, name: string): ConfigMap {
  const found = api.get(configMaps, `${name}-state`, namespace);
  if (found === undefined) {
    throw new Error(`${name} has no state`);
  }
  return structuredClone(found);
}

/** Puts the state in the words of another release. */
async function rewrite(sandbox: Sandbox, name: string, change: (data: Data) => Data): Promise<Data> {
  const state = stateOf(sandbox, name);
  const data = change(state.data ?? {});
  await sandbox.api.update(configMaps, { ...state, data } as ConfigMap);
  return data;
}

/** A world of each function that keeps a state, after a first tick, and how its state says which schema it has. */
const keepers: Readonly<Record<string, () => Promise<Keeper>>> = {
  'coredns-sync': async () => {
    const world = await openDns();
    opened.push(() => world[Symbol.asyncDispose]());
    await world.ingress('web', ['api.example.com']);
    await world.tick();
    return {
      sandbox: world.sandbox,
      tick: () => world.tick(),
      versions: ({ schema }) => [Number(schema)],
      withVersion: (data, version) => ({ ...data, schema: String(version), layout: '"of another kind"' }),
    };
  },
  'freeze-check': async () => {
    const { world, tick } = await paused();
    return {
      sandbox: world.sandbox,
      tick,
      versions: ({ schema }) => [Number(schema)],
      withVersion: (_data, version) => ({ schema: String(version), held: '"of another kind"' }),
    };
  },
  'istio-rollout': async () => {
    const world = await MeshWorld.open();
    opened.push(() => world.close());
    await world.tick();
    return {
      sandbox: world.sandbox,
      tick: () => world.tick(),
      versions: (data) => Object.values(data).map((text) => (JSON.parse(text) as { readonly v: number }).v),
      withVersion: (data, v) =>
        Object.fromEntries(
          Object.entries(data).map(([key, text]) => [key, JSON.stringify({ ...JSON.parse(text), v })]),
        ),
    };
  },
  'node-affinity-mutate': async () => {
    const world = await openPools();
    opened.push(() => world[Symbol.asyncDispose]());
    await world.addNode('node-1');
    await world.tick();
    return {
      sandbox: world.sandbox,
      tick: async () => (await world.tell('Namespace', 'shop')).status,
      versions: ({ 'config.json': text = '{}' }) => [(JSON.parse(text) as { readonly schema: number }).schema],
      withVersion: (data, schema) => ({
        ...data,
        'config.json': JSON.stringify({ schema, rules: 'of another kind' }),
        'pools.json': '{}',
      }),
    };
  },
};

interface Paused {
  readonly world: Freezes;
  readonly tick: () => Promise<number>;
  /** The Application as it was before. */
  readonly made: Application;
}

/** An Application that a freeze has paused. */
async function paused(): Promise<Paused> {
  const world = await openFreezes({ at: '2026-12-25T11:00:00Z', kinds: [applications] });
  opened.push(() => world.close());
  await world.create(namespaces, namespaceNamed('argocd', {}));
  const made = await world.create(applications, application('shop', { prune: true }));
  const times = ['2026-12-24T00:00:00Z', '2026-12-26T00:00:00Z'] as const;
  await world.create(changeFreezes, freeze('holiday', times, { behavior: pausing }));
  const { tick } = await world.replica();
  await tick();
  return { world, tick, made };
}

/** The same after somebody took away all that is noted on it. */
async function stripped(): Promise<Paused> {
  const found = await paused();
  await found.world.edit(applications, { name: 'shop', namespace: 'argocd' }, ({ metadata, ...rest }) => {
    const { annotations: _annotations, ...others } = metadata ?? {};
    return { ...rest, metadata: others };
  });
  return found;
}

function endFreeze(world: Freezes, tick: () => Promise<number>): Promise<number> {
  world.turnTo('2026-12-26T00:00:00Z');
  return tick();
}

interface Keeper {
  readonly sandbox: Sandbox;
  /** Wakes the function; the status of its answer. */
  readonly tick: () => Promise<number>;
  readonly versions: (data: Data) => readonly number[];
  readonly withVersion: (data: Data, version: number) => Data;
}

/** What a release does after a rollback from one that wrote another schema. */
const rollback = {
  // Caches, which answer for what they have not got by looking.
  'coredns-sync': 'looks at everything anew',
  'node-affinity-mutate': 'looks at everything anew',
  // Nothing else may record what Applications were before.
  'freeze-check': 'refuses to touch it',
  // Restarts are in flight by it.
  'istio-rollout': 'refuses to touch it',
} as const;

describe('the state of a release', () => {
  it('is one of those below for every function that keeps a ConfigMap', async () => {
    const found = await findFunctions('functions');
    const keeping = found.filter(({ definition: { config, keeps } }) =>
      keeps?.(parseConfig(config, exampleEnvironment(config)), { namespace }).some(
        ({ resource }) => resource === configMaps,
      ),
    );

    expect(keeping.map(({ definition }) => definition.name)).toEqual(Object.keys(keepers).sort());
  });

  it.each(Object.entries(keepers))('%s says by which schema it is written', async (name, open) => {
    const { sandbox, versions } = await open();

    const found = versions(stateOf(sandbox, name).data ?? {});

    expect(found).not.toEqual([]);
    expect(new Set(found)).toEqual(new Set([1]));
  });

  it.each(Object.entries(keepers))('%s is written anew over one that an earlier release left', async (name, open) => {
    const { sandbox, tick, versions, withVersion } = await open();
    await rewrite(sandbox, name, (data) => withVersion(data, 0));

    expect(await tick()).toBe(204);
    expect(new Set(versions(stateOf(sandbox, name).data ?? {}))).toEqual(new Set([1]));
  });

  it.each(Object.entries(rollback).filter(([, does]) => does === 'looks at everything anew'))(
    '%s is found out again after a rollback from a later one',
    async (name) => {
      const { sandbox, tick, versions, withVersion } = await opener(name)();
      const before = stateOf(sandbox, name).data ?? {};
      await rewrite(sandbox, name, (data) => withVersion(data, 2));

      expect(await tick()).toBe(204);
      const after = stateOf(sandbox, name).data ?? {};
      expect(new Set(versions(after))).toEqual(new Set([1]));
      expect(withoutTimes(after)).toMatchObject(withoutTimes(before));
    },
  );

  it.each(Object.entries(rollback).filter(([, does]) => does === 'refuses to touch it'))(
    '%s refuses to touch one of a later release, and works again once it is gone',
    async (name) => {
      const { sandbox, tick, withVersion } = await opener(name)();
      const later = await rewrite(sandbox, name, (data) => withVersion(data, 2));

      const refused = await tick();
      const kept = stateOf(sandbox, name).data;
      await sandbox.api.remove(configMaps, { name: `${name}-state`, namespace });

      expect(refused).toBe(503);
      expect(kept).toEqual(later);
      expect(await tick()).toBe(204);
    },
  );

  describe('of freeze-check by which Applications are held that somebody stripped of their marks', () => {
    it('is kept over a rollback, which holds and gives back no Application, and gives them back going forward again', async () => {
      const { world, tick, made } = await stripped();
      const before = stateOf(world.sandbox, 'freeze-check').data ?? {};
      const later = await rewrite(world.sandbox, 'freeze-check', (data) => ({ ...data, schema: '2' }));
      const late = await world.create(applications, application('late', { prune: true }));
      const [held, over] = [await tick(), await endFreeze(world, tick)];
      const kept = stateOf(world.sandbox, 'freeze-check').data;
      const untouched = world.get(applications, 'late', 'argocd');
      const emitted = world.sandbox.api.list(events) as readonly { readonly reason?: string; readonly note?: string }[];
      await rewrite(world.sandbox, 'freeze-check', () => before);
      await tick();

      expect([held, over, kept]).toEqual([503, 503, later]);
      expect(lasting(untouched)).toEqual(lasting(late));
      expect(emitted.filter(({ reason }) => reason === 'GitOpsReconcileFailed').map(({ note }) => note)).toEqual([
        expect.stringContaining('freeze-check-state was written by a later release'),
      ]);
      expect(lasting(world.get(applications, 'shop', 'argocd'))).toEqual(lasting(made));
    });

    it('is kept and named by an earlier release that leaves', async () => {
      const { world } = await stripped();
      const later = await rewrite(world.sandbox, 'freeze-check', (data) => ({ ...data, schema: '2' }));

      const { remains } = await leaving(world.sandbox, freezeCheck, { patienceMs: 0 });

      expect(remains).toEqual([expect.stringContaining('freeze-check-state was written by a later release')]);
      expect(stateOf(world.sandbox, 'freeze-check').data).toEqual(later);
    });
  });
});

function opener(name: string): () => Promise<Keeper> {
  const open = keepers[name];
  if (open === undefined) {
    throw new Error(`there is no world of ${name}`);
  }
  return open;
}

function withoutTimes(data: Data): Data {
  const time = /\d{4}-\d{2}-\d{2}T[\d:.]+Z/g;
  return Object.fromEntries(Object.entries(data).map(([key, text]) => [key, text.replaceAll(time, 'T')]));
}
