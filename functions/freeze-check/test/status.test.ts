import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { cronJobs, events, namespaces, type Resource } from '../../../lib/kube/model/resource.ts';
import { until } from '../../../lib/source/testing/until.ts';
import { changeFreezes, freezeExceptions, maintenanceWindows, type Condition, type Policy } from '../policy.ts';
import { cronJob, exception, freeze, namespaceNamed, nightly, suspending } from './objects.ts';
import { openWorld, type Replica, type World } from './world.ts';

const start = '2026-12-24T00:00:00Z';
const end = '2026-12-26T00:00:00Z';

let world: World;
let replica: Replica;

beforeEach(async () => {
  world = await openWorld({ at: '2026-12-23T00:00:00Z' });
  replica = await world.replica();
});
afterEach(() => world.close());

function conditionOf(resource: Resource<Policy>, name: string, type: string): Condition | undefined {
  return world.get(resource, name).status?.conditions?.find((condition) => condition.type === type);
}

function news(): string[] {
  const told = world.sandbox.api.list(events) as readonly Record<'type' | 'reason' | 'note' | 'eventTime', string>[];
  const inOrder = told.toSorted((one, other) => Date.parse(one.eventTime) - Date.parse(other.eventTime));
  return inOrder.map(({ type, reason, note }) => `${type} ${reason} ${note}`);
}

describe('the gauges', () => {
  async function gauges(): Promise<string[]> {
    const text = await (await fetch(new URL('/metrics', replica.app.url))).text();
    return text
      .split('\n')
      .filter((line) => /^freeze_operator_(active_policies|cronjob_suspensions)_total\{/.test(line));
  }

  it('tell of the cluster as it is when they are read: no tick is needed, and what is gone is not told', async () => {
    await world.create(namespaces, namespaceNamed('prod', { env: 'prod' }));
    await world.create(cronJobs, cronJob('report'));
    await world.create(changeFreezes, freeze('holiday', [start, end], { behavior: suspending }));
    await world.create(maintenanceWindows, nightly('ops'));
    await world.create(freezeExceptions, exception('hotfix', [start, end]));
    world.turnTo('2026-12-24T12:00:00Z');
    const before = await gauges();
    await replica.tick();
    const suspended = (await gauges()).filter((line) => line.includes('cronjob'));
    await world.remove(changeFreezes, 'holiday');
    await replica.tick();

    expect(before.toSorted()).toEqual([
      'freeze_operator_active_policies_total{policy_type="changefreeze",policy_name="holiday"} 1',
      'freeze_operator_active_policies_total{policy_type="freezeexception",policy_name="hotfix"} 1',
      'freeze_operator_active_policies_total{policy_type="maintenancewindow",policy_name="ops"} 0',
    ]);
    expect(suspended).toEqual([
      'freeze_operator_cronjob_suspensions_total{policy_type="changefreeze",policy_name="holiday",namespace="prod"} 1',
    ]);
    expect((await gauges()).filter((line) => line.includes('holiday'))).toEqual([]);
  });
});

describe('the status of a policy', () => {
  it('tells of a ChangeFreeze whether it is on and for how long', async () => {
    await world.create(changeFreezes, freeze('holiday', [start, end]));

    await replica.tick();
    const waiting = world.get(changeFreezes, 'holiday').status;
    world.turnTo('2026-12-25T22:29:30Z');
    await replica.tick();
    const active = world.get(changeFreezes, 'holiday').status;
    world.turnTo(end);
    await replica.tick();
    const over = world.get(changeFreezes, 'holiday').status;

    expect(waiting).toMatchObject({ active: false, observedGeneration: 1 });
    expect(active).toMatchObject({ active: true, timeRemaining: '1h31m0s' });
    expect(over).toMatchObject({ active: false });
    expect([waiting, over].map((status) => 'timeRemaining' in (status ?? {}))).toEqual([false, false]);
    expect(news()).toEqual([
      'Warning Activated Change freeze activated until 2026-12-26T00:00:00Z',
      'Normal Deactivated Change freeze deactivated',
    ]);
  });

  it('tells of a freeze that is ended by an edit and opened again, each time', async () => {
    async function endAt(endTime: string): Promise<void> {
      await world.edit(changeFreezes, { name: 'holiday' }, (policy) => ({
        ...policy,
        spec: { ...policy.spec, endTime },
      }));
      await replica.tick();
    }
    await world.create(changeFreezes, freeze('holiday', [start, end]));
    world.turnTo('2026-12-24T05:00:00Z');
    await replica.tick();
    world.turnTo('2026-12-24T06:00:00Z');
    await endAt('2026-12-24T06:00:00Z');
    world.turnTo('2026-12-24T07:00:00Z');
    await endAt(end);

    expect(news().map((text) => text.split(' ')[1])).toEqual(['Activated', 'Deactivated', 'Activated']);
  });

  it('moves lastTransitionTime only when the state turns', async () => {
    await world.create(changeFreezes, freeze('holiday', [start, end]));
    world.turnTo('2026-12-24T00:00:01Z');
    await replica.tick();
    world.turnTo('2026-12-24T05:00:00Z');
    await replica.tick();

    expect(conditionOf(changeFreezes, 'holiday', 'Active')).toEqual({
      type: 'Active',
      status: 'True',
      reason: 'Activated',
      message: 'Freeze active until 2026-12-26T00:00:00Z',
      lastTransitionTime: '2026-12-24T00:00:01Z',
      observedGeneration: 1,
    });
  });

  it('tells of a MaintenanceWindow which window is open and which comes next', async () => {
    await world.create(maintenanceWindows, nightly('ops'));
    world.turnTo('2026-12-23T23:00:00Z');
    await replica.tick();
    const open = world.get(maintenanceWindows, 'ops').status;
    world.turnTo('2026-12-24T02:00:00Z');
    await replica.tick();
    const closed = world.get(maintenanceWindows, 'ops').status;

    const next = { name: 'night', startTime: '2026-12-24T22:00:00Z', endTime: '2026-12-25T02:00:00Z' };
    expect(open).toMatchObject({
      active: true,
      activeWindow: { name: 'night', startTime: '2026-12-23T22:00:00Z', endTime: '2026-12-24T02:00:00Z' },
      nextWindow: next,
    });
    expect(closed).toMatchObject({ active: false, nextWindow: next });
    expect(closed).not.toHaveProperty('activeWindow');
    expect(news()).toEqual([
      "Normal Activated Maintenance window 'night' activated",
      'Normal Deactivated Maintenance window deactivated',
    ]);
  });

  it('tells each turn of a policy that turns again and again', async () => {
    await world.create(maintenanceWindows, nightly('ops'));
    for (const time of [
      '2026-12-23T23:00:00Z',
      '2026-12-24T03:00:00Z',
      '2026-12-24T23:00:00Z',
      '2026-12-25T03:00:00Z',
    ]) {
      world.turnTo(time);
      await replica.tick();
      await replica.tick();
    }

    expect(news().filter((text) => text.includes('Deactivated'))).toHaveLength(2);
    expect(news().filter((text) => text.startsWith('Normal Activated'))).toHaveLength(2);
  });

  it('tells of a FreezeException when it is on', async () => {
    await world.create(freezeExceptions, exception('hotfix', [start, end]));
    world.turnTo(start);
    await replica.tick();
    const active = conditionOf(freezeExceptions, 'hotfix', 'Active');
    world.turnTo(end);
    await replica.tick();

    expect(active).toMatchObject({ status: 'True', message: 'Exception active until 2026-12-26T00:00:00Z' });
    expect(world.get(freezeExceptions, 'hotfix').status).toMatchObject({ active: false });
    expect(news()).toEqual([
      'Normal Activated Exception activated: hotfix (approved by: ops)',
      'Normal Deactivated Exception expired',
    ]);
  });

  it('FC-72 is written at most once a minute while a freeze is left alone', async () => {
    const made = await world.create(changeFreezes, freeze('holiday', [start, end]));
    world.turnTo(start);
    await replica.tick();
    const writes = world.countWrites(changeFreezes);
    const second = await world.replica({ name: 'second' });

    for (let seconds = 10; seconds <= 600; seconds += 10) {
      world.turnTo(new Date(Date.parse(start) + seconds * 1000).toISOString());
      // Every write is told to us too, and ticks come more often than they should.
      await Promise.all([replica.tell('update', changeFreezes, made), second.tick()]);
    }

    expect(writes.get('holiday')).toBeLessThanOrEqual(10);
  });

  it('is left alone when the event tells of our own write', async () => {
    const made = await world.create(changeFreezes, freeze('holiday', [start, end]));
    world.turnTo(start);
    await replica.tell('add', changeFreezes, made);
    const writes = world.countWrites(changeFreezes);

    await replica.tell('update', changeFreezes, made);

    expect(writes).toEqual(new Map());
  });

  it('says what is wrong with a policy that got in without being checked', async () => {
    await world.create(maintenanceWindows, nightly('odd', { timezone: 'Mars/Olympus' }));
    await world.create(
      changeFreezes,
      freeze('vague', [start, end], {
        target: { kinds: ['CronJob'], objectSelector: { matchExpressions: [{ key: 'a', operator: 'Near' }] } },
      }),
    );

    expect(await replica.tick()).toBe(204);

    expect(conditionOf(maintenanceWindows, 'odd', 'Ready')).toMatchObject({
      status: 'False',
      reason: 'EvaluationFailed',
      message: expect.stringContaining('Mars/Olympus'),
    });
    expect(conditionOf(changeFreezes, 'vague', 'Ready')).toMatchObject({ status: 'False', reason: 'InvalidSelector' });
    expect(news()).toContainEqual(expect.stringContaining('Warning EvaluationFailed'));
  });

  it('warns that autoscalers are refused where SCALE is denied, unless they are exempt', async () => {
    await world.create(changeFreezes, freeze('holiday', [start, end], { rules: { deny: ['SCALE'] } }));
    await replica.tick();
    const blocked = conditionOf(changeFreezes, 'holiday', 'AutoscalersBlocked');

    const lenient = await world.replica({ name: 'lenient', environment: { EXEMPT_AUTOSCALERS: 'true' } });
    await lenient.tick();

    expect(blocked).toMatchObject({ status: 'True' });
    expect(conditionOf(changeFreezes, 'holiday', 'AutoscalersBlocked')).toBeUndefined();
  });

  it('turns by itself when the clock says so, without an event or a tick', async () => {
    const second = await world.replica({ name: 'second', followsTime: true });
    function isActive(name: string): boolean | undefined {
      return world.get(changeFreezes, name).status?.active;
    }

    /** The name of a freeze that was seen before it began: on a busy machine the first may begin too soon. */
    async function seenBefore(ms: number): Promise<string> {
      const name = `in-${ms}-ms`;
      const soon = new Date(Date.now() + ms).toISOString();
      await world.create(changeFreezes, freeze(name, [soon, '2099-01-01T00:00:00Z']));
      await second.tick();
      return isActive(name) === false ? name : seenBefore(2 * ms);
    }
    const name = await seenBefore(1_500);
    await until(() => isActive(name) !== false, 'the freeze turns');

    expect(isActive(name)).toBe(true);
  });
});
