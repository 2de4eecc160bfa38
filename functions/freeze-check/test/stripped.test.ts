import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { configMaps, cronJobs, events, namespaces, type ConfigMap } from '../../../lib/kube/model/resource.ts';
import { applications, type Application } from '../hold/application.ts';
import freezeCheck from '../index.ts';
import { changeFreezes } from '../policy.ts';
import { leaving } from '../../../test/release/cluster.ts';
import { application, cronJob, freeze, namespaceNamed, pausing, suspending } from './objects.ts';
import { lasting, openWorld, type Replica, type World } from './world.ts';

const start = '2026-12-24T00:00:00Z';
const noon = '2026-12-25T12:00:00Z';
const end = '2026-12-26T00:00:00Z';
const automated = { prune: true, selfHeal: true };
const shop = { name: 'shop', namespace: 'argocd' };
const state = 'freeze-check-state';
const fleet = { apiVersion: 'argoproj.io/v1alpha1', kind: 'ApplicationSet', name: 'fleet', uid: 'u-1' };

let world: World;
let replica: Replica;

beforeEach(async () => {
  world = await openWorld({ at: '2026-12-25T11:00:00Z', kinds: [applications] });
  await world.create(namespaces, namespaceNamed('argocd', {}));
  await world.create(namespaces, namespaceNamed('prod', { env: 'prod' }));
  replica = await world.replica();
});
afterEach(() => world.close());

function now(): Application {
  return world.get(applications, shop.name, shop.namespace);
}

async function make(owner?: typeof fleet): Promise<Application> {
  const { metadata, ...rest } = application(shop.name, automated);
  const owned = owner === undefined ? {} : { ownerReferences: [owner] };
  return world.create(applications, { ...rest, metadata: { ...metadata, ...owned } });
}

/** As an ApplicationSet does with annotations that it doesn't know, where it ignores the field that a freeze changes. */
async function strip(): Promise<void> {
  await world.edit(applications, shop, ({ metadata, ...rest }) => {
    const { annotations: _annotations, ...others } = metadata ?? {};
    return { ...rest, metadata: others };
  });
}

function beginFreeze(name = 'holiday', ends = end): Promise<unknown> {
  return world.create(changeFreezes, freeze(name, [start, ends], { behavior: { ...pausing, ...suspending } }));
}

/** What is written down apart from the Applications. */
function written(): readonly string[] {
  const found = world.sandbox.api.get(configMaps, state, 'kube-reflex') as ConfigMap | undefined;
  const { schema: _schema, ...entries } = found?.data ?? {};
  return Object.values(entries);
}

describe('an Application whose marks somebody takes away during a freeze', () => {
  describe.each([
    ['nobody', undefined],
    ['an ApplicationSet', fleet],
  ])('and that belongs to %s', (_whom, owner) => {
    it.each([
      ['seen during the freeze', [noon, end]],
      ['not seen before its end', [end]],
    ])('gets back byte for byte what it had, %s', async (_when, times) => {
      const made = await make(owner);
      await beginFreeze();
      await replica.tick();
      const held = now().spec?.syncPolicy?.automated;
      await strip();

      for (const time of times) {
        world.turnTo(time);
        await replica.tick();
      }

      expect(held).toBeUndefined();
      expect(lasting(now())).toEqual(lasting(made));
      expect(written()).toEqual([]);
    });

    it('gets it back after another policy took it over, by a process that knows nothing', async () => {
      const made = await make(owner);
      await beginFreeze('a', noon);
      await beginFreeze('b');
      await replica.tick();
      await strip();
      world.turnTo(noon);
      await (await world.replica({ name: 'second' })).tick();
      const held = now().spec?.syncPolicy?.automated;
      await strip();
      await world.remove(changeFreezes, 'b');
      await (await world.replica({ name: 'third' })).tick();

      expect(held).toBeUndefined();
      expect(lasting(now())).toEqual(lasting(made));
    });

    it('gets it back when freeze-check leaves, which leaves nothing of its own behind', async () => {
      const made = await make(owner);
      await beginFreeze();
      await replica.tick();
      await strip();

      const { remains } = await leaving(world.sandbox, freezeCheck);

      expect(remains).toEqual([]);
      expect(lasting(now())).toEqual(lasting(made));
      expect(world.sandbox.api.get(configMaps, state, 'kube-reflex')).toBeUndefined();
    });
  });

  it('is counted as paused, and not written again and again where its ApplicationSet would strip it again', async () => {
    await make(fleet);
    await beginFreeze();
    await replica.tick();
    await strip();
    const writes = world.countWrites(applications);

    await replica.tick();
    await replica.tick();

    expect(writes).toEqual(new Map());
    expect(world.get(changeFreezes, 'holiday').status?.gitopsPausedCount).toBe(1);
  });

  it('is marked again where nobody is known to object', async () => {
    await make();
    await beginFreeze();
    await replica.tick();
    const marked = now().metadata?.annotations;
    await strip();

    await replica.tick();

    expect(now().metadata?.annotations).toEqual(marked);
  });

  it('is left to those who turned syncing on meanwhile, and never touched once they turn it off after the freeze', async () => {
    const made = await make(fleet);
    await beginFreeze();
    await replica.tick();
    await strip();
    await world.edit(applications, shop, (found) => ({ ...found, spec: made.spec ?? {} }));
    world.turnTo(end);
    await replica.tick();
    const after = lasting(now());
    const manual = application(shop.name).spec ?? {};
    await world.edit(applications, shop, (found) => ({ ...found, spec: manual }));

    await replica.tick();

    expect(after).toEqual(lasting(made));
    expect(now().spec).toEqual(manual);
  });

  it('is forgotten when it is deleted: a new one of its name has nothing to get back', async () => {
    await make(fleet);
    await beginFreeze();
    await replica.tick();
    await world.remove(applications, shop.name, shop.namespace);
    const manual = await world.create(applications, application(shop.name));
    world.turnTo(end);

    await replica.tick();

    expect(lasting(now())).toEqual(lasting(manual));
    expect(written()).toEqual([]);
  });
});

describe('what is written down about Applications', () => {
  it.each(['get', 'create'] as const)(
    'must be there before one is paused: where it can’t be (%s), CronJobs don’t wait and the policy says so',
    async (verb) => {
      await make();
      await world.create(cronJobs, cronJob('report'));
      await beginFreeze();
      world.sandbox.faults.add({ resource: 'configmaps', verb, effect: { do: 'refuse', status: 503 } });

      const status = await replica.tick();
      const paused = now().spec?.syncPolicy?.automated === undefined;
      const told = world.sandbox.api.list(events) as readonly { reason?: string; note?: string }[];
      world.sandbox.faults.clear();
      await replica.tick();

      expect([status, paused, now().spec?.syncPolicy?.automated]).toEqual([503, false, undefined]);
      expect(world.get(cronJobs, 'report', 'prod').spec.suspend).toBe(true);
      expect(told.filter(({ reason }) => reason === 'GitOpsReconcileFailed').map(({ note }) => note)).toEqual([
        expect.stringMatching(new RegExp(`^could not ${verb} configmaps .*freeze-check-state`)),
      ]);
    },
  );

  it('does not count as paused while the pause is refused, however often it is tried', async () => {
    await make();
    await beginFreeze();
    world.sandbox.faults.add({ resource: 'applications', verb: 'patch', effect: { do: 'refuse', status: 403 } });

    await replica.tick();
    await replica.tick();

    expect(written()).toHaveLength(1);
    expect(world.get(changeFreezes, 'holiday').status?.gitopsPausedCount).toBe(0);
  });

  it('takes Applications as long as there is room: those are paused, and the policy names the others', async () => {
    const room = 1_048_576 - 400;
    const data = { schema: '1', filler: 'x'.repeat(room) };
    await world.create(configMaps, { metadata: { name: state, namespace: 'kube-reflex' }, data });
    await make();
    const other = await world.create(applications, application('too-much', automated));
    await beginFreeze();

    const status = await replica.tick();

    const told = world.sandbox.api.list(events) as readonly { reason?: string; note?: string }[];
    expect([status, now().spec?.syncPolicy?.automated]).toEqual([204, undefined]);
    expect(lasting(world.get(applications, 'too-much', 'argocd'))).toEqual(lasting(other));
    expect(world.get(changeFreezes, 'holiday').status?.gitopsPausedCount).toBe(1);
    expect(told.filter(({ reason }) => reason === 'GitOpsReconcileFailed').map(({ note }) => note)).toEqual([
      'freeze-check-state is full: there is no room to write down Application argocd/too-much',
    ]);
  });

  it('is found out again from the marks when somebody deletes or spoils it', async () => {
    const made = await make();
    await beginFreeze();
    await replica.tick();
    const before = written();
    await world.remove(configMaps, state, 'kube-reflex');
    await replica.tick();
    const again = written();
    const uid = made.metadata?.uid ?? '';
    const spoil = { [uid]: '{"marks":7}', other: 'not JSON' };
    await world.edit(configMaps, { name: state, namespace: 'kube-reflex' }, (found: ConfigMap) => ({
      ...found,
      data: { ...found.data, ...spoil },
    }));
    await replica.tick();
    const mended = world.get(configMaps, state, 'kube-reflex').data?.[uid];

    expect(again).toEqual(before);
    expect([mended]).toEqual(before);
  });

  it('is not even read where no provider loses marks', async () => {
    const calls: string[] = [];
    const flux = await world.replica({
      name: 'flux',
      environment: { GITOPS_PROVIDERS: 'flux' },
      observe: ({ resource }) => calls.push(resource),
    });
    await make();
    await beginFreeze();

    await flux.tick();

    expect(calls.filter((resource) => /configmaps|applications/.test(resource))).toEqual([]);
  });
});
