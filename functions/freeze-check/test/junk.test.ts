import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  changeFreezes,
  maintenanceWindows,
  targetKinds,
  type Action,
  type ChangeFreeze,
  type DenyKind,
} from '../policy.ts';
import { cronJobs, deployments, namespaces, type Resource } from '../../../lib/kube/model/resource.ts';
import type { KubeObject } from '../../../lib/kube/model/wire.ts';
import type { AdmissionRequest } from '../../../lib/kube/model/review.ts';
import { cronJob, freeze, namespaceNamed, nightly } from './objects.ts';
import { creation, deployment, openGate, type Gate } from './reviews.ts';
import { openWorld, type Replica, type World } from './world.ts';

const noon = '2026-12-25T12:00:00Z';
const always = ['2020-01-01T00:00:00Z', '2099-01-01T00:00:00Z'] as const;
const deny: readonly Action[] = ['CREATE', 'DELETE', 'ROLL_OUT', 'SCALE'];
const everything = { target: { kinds: targetKinds }, rules: { deny } };

let world: World;
let gate: Gate;

async function open(environment: Readonly<Record<string, string>>): Promise<void> {
  world = await openWorld({ at: noon, lax: true });
  await world.create(namespaces, namespaceNamed('prod', { env: 'prod' }));
  await world.create(deployments, deployment());
  gate = await openGate(world, { environment });
}

async function close(): Promise<void> {
  await gate.close();
  await world.close();
}

const junk = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }),
  fc.constantFrom(null, '', 0, -1, [], {}, [null], { a: null }, 'CREATE', 'TZ=', '* * * * *', '9'.repeat(400)),
) as fc.Arbitrary<unknown>;

/** The paths to every value within, the deepest last. */
function pathsOf(value: unknown, path: readonly string[] = []): readonly (readonly string[])[] {
  const inner = typeof value === 'object' && value !== null ? Object.entries(value) : [];
  return [path, ...inner.flatMap(([key, each]) => pathsOf(each, [...path, key]))];
}

/** The same with another value at the path; `undefined` takes it away. */
function replaced(value: unknown, [key, ...rest]: readonly string[], by: unknown): unknown {
  if (key === undefined) {
    return by;
  }
  const copy = structuredClone(value) as Record<string, unknown>;
  copy[key] = replaced(copy[key], rest, by);
  return copy;
}

/** An object that is right but for a value or two. */
function spoiled(sound: object): fc.Arbitrary<unknown> {
  const spoil = fc.tuple(fc.constantFrom(...pathsOf(sound).slice(1)), fc.oneof(junk, fc.constant(undefined)));
  return fc.array(spoil, { minLength: 1, maxLength: 2 }).map((spoils) =>
    spoils.reduce<unknown>((object, [path, by]) => {
      const isThere = pathsOf(object).some((each) => each.join('/') === path.join('/'));
      return isThere ? replaced(object, path, by) : object;
    }, sound),
  );
}

describe('reviews of any shape', () => {
  beforeAll(async () => {
    await open({ POLICY_MAX_AGE: '60s' });
    await world.create(changeFreezes, freeze('all', always, everything));
  });
  afterAll(close);

  const kinds = targetKinds.map((kind) => ({ group: kind === 'CronJob' ? 'batch' : 'apps', version: 'v1', kind }));
  const someone = fc.oneof(fc.constant({ username: 'dev@x', groups: ['a'] }), junk);

  it('about workloads never pass a freeze of everything, and never break the process', async () => {
    const object = fc.oneof(spoiled(deployment({ annotations: { note: 'x' } })), junk);
    const review = fc.record({
      kind: fc.constantFrom(...kinds),
      operation: fc.oneof(fc.constantFrom('CREATE', 'UPDATE', 'DELETE', 'CONNECT'), fc.string()),
      namespace: fc.oneof(fc.constant('prod'), junk.filter(isPlace)),
      name: fc.oneof(fc.constant('web'), junk),
      userInfo: someone,
      object,
      oldObject: object,
    });

    await fc.assert(
      fc.asyncProperty(review, async (request) => {
        expect((await gate.ask(request as Partial<AdmissionRequest>)).allowed).toBe(false);
      }),
      { numRuns: 400 },
    );
    expect(await gate.ask(creation())).toMatchObject({ allowed: false, status: { code: 403 } });
  });

  it('are answered under their uid whatever else they hold', async () => {
    const review = fc.record({
      kind: junk,
      resource: junk,
      subResource: fc.oneof(fc.constantFrom('scale', 'status', ''), junk),
      operation: junk,
      namespace: junk,
      name: junk,
      userInfo: someone,
      object: junk,
      oldObject: junk,
      dryRun: junk,
    });
    const paths = ['workloads', 'changefreeze', 'maintenancewindow', 'freezeexception'].map(
      (name) => `/validate-freeze-operator-io-v1alpha1-${name}`,
    );

    await fc.assert(
      fc.asyncProperty(review, fc.constantFrom(...paths), async (request, path) => {
        expect(typeof (await gate.ask(request as Partial<AdmissionRequest>, path)).allowed).toBe('boolean');
      }),
      { numRuns: 300 },
    );
    expect(await gate.ask(creation())).toMatchObject({ allowed: false, status: { code: 403 } });
  });
});

describe('texts without an end', () => {
  beforeAll(() => open({ POLICY_MAX_AGE: '60s' }));
  afterAll(close);

  const path = '/validate-freeze-operator-io-v1alpha1-maintenancewindow';
  const window = { name: 'w', schedule: '0 22 * * *', duration: '4h' };

  it.each([
    ['duration', '1'.repeat(1_000_000)],
    ['duration', '9h'.repeat(500_000)],
    ['schedule', '*,'.repeat(500_000)],
    ['schedule', `TZ=${'x'.repeat(1_000_000)} 0 22 * * *`],
    ['schedule', ' '.repeat(1_000_000)],
  ])(
    'as the %s of a policy hold nobody up, and are refused in few words',
    async (field, text) => {
      const { spec } = nightly('endless');
      const object = {
        ...{ apiVersion: 'freeze-operator.io/v1alpha1', kind: 'MaintenanceWindow', metadata: { name: 'endless' } },
        spec: { ...spec, windows: [{ ...window, [field]: text }] },
      };

      const [refused, bystander] = await Promise.all([
        gate.ask({ operation: 'CREATE', object }, path),
        gate.ask(creation()),
      ]);

      expect(refused).toMatchObject({ allowed: false, status: { message: expect.stringContaining(`].${field}: `) } });
      expect(refused.status?.message?.length).toBeLessThan(1000);
      expect(bystander).toMatchObject({ allowed: true });
    },
    20_000,
  );

  it('as amounts of a workload hold nobody up', async () => {
    function limited(memory: string): object {
      const containers = [{ name: 'web', image: 'web', resources: { limits: { memory } } }];
      return { ...deployment(), spec: { template: { spec: { containers } } } };
    }
    const digits = '1'.repeat(1_000_000);

    const review = { ...creation(), operation: 'UPDATE', object: limited(`${digits}x`), oldObject: limited(digits) };

    expect(await gate.ask(review as Partial<AdmissionRequest>)).toMatchObject({ allowed: true });
  }, 20_000);
});

/** Without a namespace a request is about nothing that a policy could cover. */
function isPlace(value: unknown): boolean {
  return value !== '' && value !== undefined;
}

describe('policies of any shape', () => {
  let acting: Replica;

  beforeAll(async () => {
    await open({ POLICY_MAX_AGE: '0s' });
    acting = await world.replica({ name: 'acting' });
  });
  afterAll(close);

  it.each<[DenyKind, Resource, KubeObject]>([
    ['ChangeFreeze', changeFreezes, freeze('spoiled', always, { ...everything, timezone: 'Europe/Berlin' })],
    ['ChangeFreeze', changeFreezes, recurring()],
    ['MaintenanceWindow', maintenanceWindows, nightly('spoiled', everything)],
  ])('that got in: a %s which would be refused lets nothing pass in silence', async (kind, resource, sound) => {
    const { spec, metadata } = sound as KubeObject & { readonly spec: object };

    await fc.assert(
      fc.asyncProperty(spoiled(spec), async (wrong) => {
        const object = { metadata, spec: wrong } as KubeObject;
        const path = `/validate-freeze-operator-io-v1alpha1-${kind.toLowerCase()}`;
        const policy = await gate.ask({ operation: 'CREATE', object }, path);
        await world.create(resource, object);
        const change = await gate.ask(creation());
        const acted = [await acting.tell('add', resource, object), await acting.tick()];
        await world.remove(resource, 'spoiled');

        // A selector that says nothing sound selects nothing: so it was with kube-freeze-operator.
        const isAboutSelector = /^spec\.target\.\w+Selector/.test(policy.status?.message ?? '');
        expect([policy.allowed || isAboutSelector, change.allowed]).not.toEqual([false, true]);
        expect(acted).toEqual([204, 204]);
      }),
      { numRuns: 80 },
    );
    expect(await gate.ask(creation())).toMatchObject({ allowed: true });
  });

  it('that got in: what is held stays held while one can’t be read, which it says, and is let go once it can', async () => {
    await world.create(cronJobs, cronJob('report'));
    await world.create(
      changeFreezes,
      freeze('holiday', always, { ...everything, behavior: { suspendCronJobs: true } }),
    );
    await acting.tick();

    await world.edit(changeFreezes, { name: 'holiday' }, ({ spec: _spec, ...rest }) => rest as ChangeFreeze);
    await acting.tick();
    const unreadable = { suspended: isSuspended(), ready: readyOf('holiday') };
    await world.remove(changeFreezes, 'holiday');
    await acting.tick();

    expect(unreadable).toEqual({
      suspended: true,
      ready: expect.objectContaining({ status: 'False', message: expect.stringContaining('spec: must be an object') }),
    });
    expect(isSuspended()).toBe(false);
  });

  function isSuspended(): unknown {
    return world.get(cronJobs, 'report', 'prod').spec.suspend;
  }

  function readyOf(name: string): unknown {
    return world.get(changeFreezes, name).status?.conditions?.find(({ type }) => type === 'Ready');
  }
});

/** A freeze that is on from each minute to the next. */
function recurring(): KubeObject {
  const { metadata, spec } = freeze('spoiled', always, everything);
  const { startTime: _start, endTime: _end, ...rest } = spec;
  return { metadata, spec: { ...rest, schedule: '* * * * *', duration: '1m' } } as KubeObject;
}
