import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { changeFreezes } from '../policy.ts';
import { cronJobs, namespaces } from '../../../lib/kube/model/resource.ts';
import { until } from '../../../lib/source/testing/until.ts';
import { heldIn, type Held } from './held.ts';
import { cronJob, freeze, namespaceNamed, suspending } from './objects.ts';
import { lasting, openWorld, type Replica, type World } from './world.ts';

const day = ['2026-12-24T00:00:00Z', '2026-12-26T00:00:00Z'] as const;
const during = '2026-12-25T12:00:00Z';
const after = '2026-12-26T00:00:00Z';

let world: World;
let replica: Replica;
let suspendOf: Held['suspendOf'];
let reasons: Held['reasons'];

beforeEach(async () => {
  world = await openWorld({ at: during });
  await world.create(namespaces, namespaceNamed('prod', { env: 'prod' }));
  replica = await world.replica();
  ({ suspendOf, reasons } = heldIn(world));
});
afterEach(() => world.close());

describe('CronJobs in a freeze, when replicas or calls fail', () => {
  it('FC-68 are written once, and the Event is told once, when ticks come twice and to two replicas', async () => {
    const names = Array.from({ length: 40 }, (_, index) => `job-${index}`);
    const made = await Promise.all(names.map((name) => world.create(cronJobs, cronJob(name))));
    await world.create(changeFreezes, freeze('holiday', day, { behavior: suspending }));
    const second = await world.replica({ name: 'second' });
    const writes = world.countWrites(cronJobs);

    const statuses = await Promise.all([replica.tick(), second.tick(), replica.tick(), second.tick()]);
    await replica.tick();
    const started = reasons().toSorted();

    expect(statuses.every((status) => status === 204 || status === 503)).toBe(true);
    expect([...writes.values()]).toEqual(names.map(() => 1));
    expect(started).toEqual(['Activated', 'CronJobsUpdated']);

    world.turnTo(after);
    await Promise.all([replica.tick(), second.tick(), replica.tick(), second.tick()]);
    await second.tick();

    expect(made.map(lasting)).toEqual(names.map((name) => lasting(world.get(cronJobs, name, 'prod'))));
    expect([...writes.values()]).toEqual(names.map(() => 2));
    expect(reasons().toSorted()).toEqual(['Activated', 'CronJobsUpdated', 'CronJobsUpdated', 'Deactivated']);
  });

  it('FC-77 are released by another replica when the one that suspended them dies', async () => {
    const made = await world.create(cronJobs, cronJob('report'));
    await world.create(changeFreezes, freeze('holiday', day, { behavior: suspending }));
    await replica.tick();
    replica.die();

    world.turnTo(after);
    const next = await world.replica({ name: 'next' });
    await next.tick();

    expect(lasting(world.get(cronJobs, 'report', 'prod'))).toEqual(lasting(made));
  });

  it('stay as they are while the policies can’t be read, and follow once they can', async () => {
    await world.create(cronJobs, cronJob('report'));
    await world.create(changeFreezes, freeze('holiday', day, { behavior: suspending }));
    await replica.tick();
    const refused = { do: 'refuse', status: 503 } as const;
    const heal = world.sandbox.faults.add({ verb: 'list', resource: 'changefreezes', effect: refused });

    world.turnTo(after);
    const answer = await replica.tick();
    const meanwhile = suspendOf('report');
    heal();
    await replica.tick();

    expect([answer, meanwhile, suspendOf('report')]).toEqual([503, true, false]);
  });

  it('are suspended on their event although another’s, which waited with it, fails', async () => {
    await world.create(changeFreezes, freeze('holiday', day, { behavior: suspending }));
    await replica.tick();
    const [slow, stubborn, report] = [cronJob('slow'), cronJob('stubborn'), cronJob('report')];
    for (const job of [slow, stubborn, report]) {
      await world.create(cronJobs, job);
    }
    const { faults } = world.sandbox;
    faults.add({ verb: 'get', name: 'slow', times: 1, effect: { do: 'delay', ms: 300 } });
    faults.add({ verb: 'get', name: 'stubborn', effect: { do: 'refuse', status: 503 } });

    const busy = replica.tell('add', cronJobs, slow);
    await until(() => faults.fired.length > 0, 'it is busy');
    await Promise.all([busy, replica.tell('add', cronJobs, stubborn), replica.tell('add', cronJobs, report)]);

    expect([suspendOf('stubborn'), suspendOf('report')]).toEqual([false, true]);
  });

  it('are suspended where others can’t be, and the policy says which could not', async () => {
    await world.create(cronJobs, cronJob('stubborn'));
    await world.create(cronJobs, cronJob('report'));
    await world.create(changeFreezes, freeze('holiday', day, { behavior: suspending }));
    const heal = world.sandbox.faults.add({ verb: 'patch', name: 'stubborn', effect: { do: 'refuse', status: 503 } });

    const answer = await replica.tick();
    const found = [suspendOf('report'), suspendOf('stubborn')];
    heal();
    const again = await replica.tick();

    expect([answer, again]).toEqual([503, 204]);
    expect(found).toEqual([true, false]);
    expect(suspendOf('stubborn')).toBe(true);
    expect(reasons()).toContain('CronJobUpdateFailed');
  });
});
