import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { inParallel } from '../../../lib/base/in-parallel.ts';
import type { Call } from '../../../lib/kube/client.ts';
import { cronJobs, namespaces } from '../../../lib/kube/model/resource.ts';
import type { KubeObject } from '../../../lib/kube/model/wire.ts';
import { applications } from '../hold/application.ts';
import { changeFreezes } from '../policy.ts';
import { application, cronJob, freeze, namespaceNamed, pausing, suspending } from './objects.ts';
import { lasting, openWorld, type Replica, type World } from './world.ts';

const start = '2026-12-24T00:00:00Z';
const end = '2026-12-26T00:00:00Z';

let world: World;

beforeEach(async () => {
  world = await openWorld({ at: '2026-12-23T00:00:00Z', kinds: [applications] });
  await world.create(namespaces, namespaceNamed('prod', { env: 'prod' }));
  await world.create(namespaces, namespaceNamed('argocd', {}));
  await world.create(changeFreezes, freeze('holiday', [start, end], { behavior: { ...suspending, ...pausing } }));
});
afterEach(() => world.close());

interface Crowd {
  /** All objects as they were made, without what every write changes. */
  readonly made: readonly object[];
  readonly now: () => readonly object[];
  readonly held: () => number;
}

/** CronJobs, some of which rest already, and Applications with and without autosync. */
async function makeCrowd(jobs: number, apps: number): Promise<Crowd> {
  await inParallel(20, numbers(jobs), (index) => world.create(cronJobs, cronJob(`job-${index}`, index % 7 === 0)));
  await inParallel(20, numbers(apps), (index) =>
    world.create(applications, application(`app-${index}`, index % 5 === 0 ? undefined : { prune: index % 2 === 0 })),
  );
  function all(): readonly KubeObject[] {
    return [cronJobs, applications].flatMap((kind) => world.sandbox.api.list(kind));
  }
  return {
    made: all().map(lasting),
    now: () => all().map(lasting),
    held: () =>
      all().filter(({ metadata }) => metadata?.annotations?.['freeze-operator.io/managed-by-kind'] === 'ChangeFreeze')
        .length,
  };
}

function numbers(count: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => index);
}

/** Ticks until one is answered well, as a source that retries does. */
async function untilDone(replica: Replica): Promise<void> {
  for (let status = 0; status !== 204;) {
    status = await replica.tick();
  }
}

describe('a freeze over many objects', () => {
  it('FC-62 FC-68 FC-70 touches each of 1,000 CronJobs and 200 Applications once and gives back each byte, with two replicas and doubled ticks', async () => {
    const crowd = await makeCrowd(1000, 200);
    const [one, two] = [await world.replica({ name: 'one' }), await world.replica({ name: 'two' })];
    const counts = [world.countWrites(cronJobs), world.countWrites(applications)];

    world.turnTo(start);
    await Promise.all([one, two, one, two].map(untilDone));
    const held = crowd.held();
    const begun = counts.flatMap((count) => [...count.values()]);
    world.turnTo(end);
    await Promise.all([one, two, one, two].map(untilDone));

    expect(held).toBe(1200);
    expect(begun).toEqual(numbers(1200).map(() => 1));
    expect(counts.flatMap((count) => [...count.values()])).toEqual(numbers(1200).map(() => 2));
    expect(crowd.now()).toEqual(crowd.made);
  });

  it('keeps what users change while it starts, lasts and ends', async () => {
    await makeCrowd(60, 0);
    const replica = await world.replica({ name: 'one' });
    function label(value: string): Promise<unknown> {
      return inParallel(4, numbers(60), (index) =>
        world.edit(cronJobs, { name: `job-${index}`, namespace: 'prod' }, (job) => ({
          ...job,
          metadata: { ...job.metadata, labels: { ...job.metadata?.labels, [value]: 'yes' } },
        })),
      );
    }

    world.turnTo(start);
    await Promise.all([untilDone(replica), label('starting')]);
    await untilDone(replica);
    await label('lasting');
    world.turnTo(end);
    await Promise.all([untilDone(replica), label('ending')]);
    await untilDone(replica);

    const jobs = numbers(60).map((index) => world.get(cronJobs, `job-${index}`, 'prod'));
    const labels = { starting: 'yes', lasting: 'yes', ending: 'yes' };
    expect(jobs.every(({ metadata }) => Object.keys(labels).every((key) => metadata?.labels?.[key] === 'yes'))).toBe(
      true,
    );
    expect(jobs.map(({ spec }) => spec.suspend)).toEqual(numbers(60).map((index) => index % 7 === 0));
    expect(jobs.filter(({ metadata }) => metadata?.annotations !== undefined)).toEqual([]);
  });
});

/** Objects, Events and status: the writes of a pass. */
const writesOfPass = 7;
const deaths = numbers(writesOfPass).flatMap((write) => [
  { write: write + 1, how: 'after' as const },
  { write: write + 1, how: 'before' as const },
]);

describe('a replica that dies', () => {
  it('FC-77 at any of its writes, before or after it is done, leaves nothing that another can’t finish', async () => {
    const crowd = await makeCrowd(2, 2);
    const healthy = await world.replica({ name: 'healthy' });
    const ends: boolean[] = [];

    for (const death of deaths) {
      const counts = [world.countWrites(cronJobs), world.countWrites(applications)];
      world.turnTo(start);
      ends.push(await dyingAt(death));
      await untilDone(healthy);
      expect([death, crowd.held()]).toEqual([death, 4]);
      world.turnTo(end);
      ends.push(await dyingAt(death));
      await untilDone(healthy);
      expect([death, crowd.now()]).toEqual([death, crowd.made]);
      expect(counts.flatMap((count) => [...count.values()])).toEqual([2, 2, 2, 2]);
    }

    expect(ends.filter((died) => died).length).toBeGreaterThan(writesOfPass);
  });

  let victims = 0;

  /** Whether a replica whose connection is cut at its nth write got that far. */
  async function dyingAt({ write, how }: (typeof deaths)[number]): Promise<boolean> {
    const name = `victim-${(victims += 1)}`;
    const { faults } = world.sandbox;
    const user = `system:serviceaccount:kube-reflex:${name}`;
    let writes = 0;
    let isDead = false;
    function observe({ verb }: Call): void {
      writes += Number(verb === 'patch' || verb === 'create');
      if (writes === write - 1 && !isDead) {
        isDead = true;
        faults.add({ user, times: 1, effect: { do: 'cut', when: how } });
      }
      if (writes >= write) {
        faults.add({ user, effect: { do: 'cut', when: 'before' } });
      }
    }
    const victim = await world.replica({ name, observe });
    if (write === 1) {
      faults.add({ user, verb: 'patch', effect: { do: 'cut', when: how } });
    }
    const status = await victim.tick();
    victim.die();
    await victim.close();
    return status !== 204;
  }
});
