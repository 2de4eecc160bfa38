import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { changeFreezes, maintenanceWindows } from '../policy.ts';
import { cronJobs, namespaces } from '../../../lib/kube/model/resource.ts';
import { heldIn, type Held } from './held.ts';
import { cronJob, freeze, namespaceNamed, nightly, suspending } from './objects.ts';
import { lasting, openWorld, type Replica, type World } from './world.ts';

const day = ['2026-12-24T00:00:00Z', '2026-12-26T00:00:00Z'] as const;
const before = '2026-12-23T12:00:00Z';
const during = '2026-12-25T12:00:00Z';
const after = '2026-12-26T00:00:00Z';

let world: World;
let replica: Replica;
let suspendOf: Held['suspendOf'];
let ownAnnotations: Held['ownAnnotations'];

beforeEach(async () => {
  world = await openWorld({ at: during });
  await world.create(namespaces, namespaceNamed('prod', { env: 'prod' }));
  replica = await world.replica();
  ({ suspendOf, ownAnnotations } = heldIn(world));
});
afterEach(() => world.close());

describe('CronJobs in a freeze', () => {
  it('FC-62 are suspended by one write when it starts, and get back what they had when it ends', async () => {
    const made = await world.create(cronJobs, cronJob('report'));
    await world.create(changeFreezes, freeze('holiday', day, { behavior: suspending }));
    const writes = world.countWrites(cronJobs);

    expect(await replica.tick()).toBe(204);

    expect(suspendOf('report')).toBe(true);
    expect(ownAnnotations('report')).toEqual({
      'freeze-operator.io/managed-by': 'holiday',
      'freeze-operator.io/managed-by-kind': 'ChangeFreeze',
      'freeze-operator.io/original-suspend': 'false',
    });
    expect(writes.get('report')).toBe(1);

    world.turnTo(after);
    expect(await replica.tick()).toBe(204);

    expect(suspendOf('report')).toBe(false);
    expect(lasting(world.get(cronJobs, 'report', 'prod'))).toEqual(lasting(made));
    expect(writes.get('report')).toBe(2);
  });

  it('FC-63 stay suspended afterwards where their owner had suspended them', async () => {
    await world.create(cronJobs, cronJob('retired', true));
    await world.create(changeFreezes, freeze('holiday', day, { behavior: suspending }));

    await replica.tick();
    const noted = ownAnnotations('retired')['freeze-operator.io/original-suspend'];
    world.turnTo(after);
    await replica.tick();

    expect(noted).toBe('true');
    expect(suspendOf('retired')).toBe(true);
    expect(ownAnnotations('retired')).toEqual({});
  });

  it('FC-64 are not written before it starts', async () => {
    world.turnTo(before);
    await world.create(cronJobs, cronJob('report'));
    const made = await world.create(changeFreezes, freeze('holiday', day, { behavior: suspending }));
    const writes = world.countWrites(cronJobs);

    await replica.tell('add', changeFreezes, made);
    await replica.tick();

    expect(writes).toEqual(new Map());
  });

  it('FC-65 stay suspended until the last of several freezes ends, and get back what they had before the first', async () => {
    await world.create(cronJobs, cronJob('report'));
    await world.create(cronJobs, cronJob('retired', true));
    await world.create(changeFreezes, freeze('a', [day[0], during], { behavior: suspending }));
    await world.create(changeFreezes, freeze('b', day, { behavior: suspending }));
    world.turnTo('2026-12-25T11:59:59Z');
    await replica.tick();
    const first = ownAnnotations('report')['freeze-operator.io/managed-by'];

    world.turnTo(during);
    await replica.tick();
    const second = ownAnnotations('report');
    const meanwhile = suspendOf('report');
    world.turnTo(after);
    await replica.tick();

    expect(first).toBe('a');
    expect(second).toMatchObject({
      'freeze-operator.io/managed-by': 'b',
      'freeze-operator.io/original-suspend': 'false',
    });
    expect(meanwhile).toBe(true);
    expect([suspendOf('report'), suspendOf('retired')]).toEqual([false, true]);
    expect([ownAnnotations('report'), ownAnnotations('retired')]).toEqual([{}, {}]);
  });

  it.each([
    ['deleted', () => world.remove(changeFreezes, 'holiday')],
    ['told to leave CronJobs alone', () => rewrite({ behavior: {} })],
    ['only to warn', () => rewrite({ enforcement: 'Warn' as const })],
    [
      'about other namespaces',
      () => rewrite({ target: { kinds: ['CronJob'], namespaceSelector: { matchLabels: { env: 'test' } } } }),
    ],
  ])('FC-66 get back what they had within a tick when the freeze is %s', async (_what, change) => {
    await world.create(cronJobs, cronJob('report'));
    await world.create(changeFreezes, freeze('holiday', day, { behavior: suspending }));
    await replica.tick();
    const held = suspendOf('report');

    await change();
    await replica.tick();

    expect([held, suspendOf('report')]).toEqual([true, false]);
    expect(ownAnnotations('report')).toEqual({});
  });

  function rewrite(spec: object): Promise<unknown> {
    return world.edit(changeFreezes, { name: 'holiday' }, (policy) => ({
      ...policy,
      spec: { ...policy.spec, ...spec },
    }));
  }

  it('FC-66 get back what they had on the event of the deletion', async () => {
    await world.create(cronJobs, cronJob('report'));
    const made = await world.create(changeFreezes, freeze('holiday', day, { behavior: suspending }));
    await replica.tick();

    await world.remove(changeFreezes, 'holiday');
    expect(await replica.tell('delete', changeFreezes, made)).toBe(204);

    expect(suspendOf('report')).toBe(false);
  });

  it('FC-67 are suspended on their own event when they are created during it', async () => {
    await world.create(changeFreezes, freeze('holiday', day, { behavior: suspending }));
    await replica.tick();
    const made = await world.create(cronJobs, cronJob('late'));
    const other = await world.create(cronJobs, cronJob('untold'));

    expect(await replica.tell('add', cronJobs, made)).toBe(204);
    const onEvent = [suspendOf('late'), suspendOf('untold')];
    await replica.tick();

    expect(onEvent).toEqual([true, false]);
    expect(suspendOf(other.metadata?.name ?? '')).toBe(true);
  });

  it('FC-67 follow the labels of their namespace', async () => {
    await world.create(namespaces, namespaceNamed('staging', {}));
    await world.create(cronJobs, cronJob('report', false, 'staging'));
    await world.create(changeFreezes, freeze('holiday', day, { behavior: suspending }));
    await replica.tick();

    const labelled = await world.edit(namespaces, { name: 'staging' }, (found) => ({
      ...found,
      metadata: { ...found.metadata, labels: { env: 'prod' } },
    }));
    await replica.tell('update', namespaces, labelled);
    const covered = world.get(cronJobs, 'report', 'staging').spec.suspend;
    const unlabelled = await world.edit(namespaces, { name: 'staging' }, (found) => ({
      ...found,
      metadata: { ...found.metadata, labels: {} },
    }));
    await replica.tell('update', namespaces, unlabelled);

    expect([covered, world.get(cronJobs, 'report', 'staging').spec.suspend]).toEqual([true, false]);
  });

  it('FC-69 know a MaintenanceWindow and a ChangeFreeze of the same name apart', async () => {
    await world.create(cronJobs, cronJob('report'));
    await world.create(changeFreezes, freeze('same', [day[0], during], { behavior: suspending }));
    await world.create(maintenanceWindows, nightly('same', { behavior: suspending }));
    world.turnTo('2026-12-25T11:00:00Z');
    await replica.tick();
    const first = ownAnnotations('report')['freeze-operator.io/managed-by-kind'];

    world.turnTo(during);
    await replica.tick();
    const second = ownAnnotations('report')['freeze-operator.io/managed-by-kind'];
    world.turnTo('2026-12-25T22:00:00Z');
    await replica.tick();

    expect([first, second]).toEqual(['ChangeFreeze', 'MaintenanceWindow']);
    expect(suspendOf('report')).toBe(false);
    expect(ownAnnotations('report')).toEqual({});
  });

  it('follow a clock that jumps, forth and back', async () => {
    await world.create(cronJobs, cronJob('report'));
    await world.create(changeFreezes, freeze('holiday', day, { behavior: suspending }));
    const seen: unknown[] = [];
    for (const time of [during, after, during, before]) {
      world.turnTo(time);
      await replica.tick();
      seen.push(suspendOf('report'));
    }

    expect(seen).toEqual([true, false, true, false]);
    expect(ownAnnotations('report')).toEqual({});
  });
});
