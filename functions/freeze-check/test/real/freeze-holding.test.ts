import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { expectCode } from '../../../../lib/sandbox/test/contract/scratch.ts';
import { callsOf, settledAudit } from '../../../../test/real/parts/audit.ts';
import { makeCrowd, prepareForCrowd, removeCrowd, writesTo, type Crowd } from './freeze-crowd.ts';
import { makeOwnedApplication } from './freeze-owned.ts';
import { openFreezeSite, policies, type FreezeSite } from './freeze-site.ts';
import { usernameOf, type RealFunction } from '../../../../test/real/support/function.ts';
import { waitUntil } from '../../../../test/real/parts/wait.ts';
import { startKillingProxy, type Death, type KillingProxy } from '../../../../test/real/support/killing-proxy.ts';

const patience = 300_000;
const holiday = `${policies}/changefreezes/holiday`;
const behavior = {
  suspendCronJobs: true,
  gitops: { enabled: true, providers: ['argocd'], argocd: {} },
};
const target = { kinds: ['CronJob'], namespaceSelector: { matchLabels: { env: 'prod' } } };

describe('a freeze over real objects, by processes that die', () => {
  let site: FreezeSite;
  let proxy: KillingProxy;
  let steady: RealFunction;

  beforeAll(async () => {
    site = await openFreezeSite({ parts: [] });
    await prepareForCrowd(site.client);
    proxy = await startKillingProxy(site.cluster.access);
    // Who is killed leaves no compiled code to those who come after; one who ends in peace does.
    await (await start(1)).running.stop('SIGTERM');
    steady = await start(1);
  }, patience);

  afterAll(async () => {
    await proxy[Symbol.asyncDispose]();
    await site[Symbol.asyncDispose]();
  });

  afterEach(async () => {
    await site.client.call('DELETE', holiday);
    await removeCrowd(site.client);
  });

  function start(port: number, server?: string): Promise<RealFunction> {
    const environment = { NODE_COMPILE_CACHE: join(site.cluster.site.directory, 'compiled') };
    return site.startEvents(port, { environment, ...(server === undefined ? {} : { server }) });
  }

  async function begin(): Promise<void> {
    await site.freeze('holiday', { target, behavior });
  }

  async function end(): Promise<void> {
    expectCode(200, await site.merge(holiday, { spec: { endTime: '2020-01-02T00:00:00Z' } }));
  }

  /** Ticks as a source that retries does, until the answer is good or there is nobody to answer. */
  async function tickUntilDone(events: RealFunction): Promise<void> {
    await waitUntil(
      'a good answer',
      async () => !events.running.alive() || (await site.tick(events).catch(() => 0)) === 204,
    );
  }

  /** A process that will die there. Working, it tells whether it did; if not, it had fewer writes. */
  async function startMortal(death: Death): Promise<() => Promise<boolean>> {
    const mortal = await start(2, proxy.url);
    proxy.arm(mortal.running, death);
    return async () => {
      await tickUntilDone(mortal);
      await mortal.running.stop();
      return proxy.struck();
    };
  }

  it(
    'FC-77 kill -9 at every write of its start and of its end leaves nothing half done, and each object is touched once',
    async () => {
      const crowd = await makeCrowd(site.client, 1, 1);
      const made = await crowd.now();
      const deaths = { start: 0, end: 0 };
      const whole: { start?: number; end?: number } = {};

      /** Counts the death, or the writes of one who lived to do them all. */
      async function sweep(turn: 'start' | 'end', death: Death): Promise<void> {
        if (await (await startMortal(death))()) {
          deaths[turn] += 1;
        } else {
          whole[turn] = proxy.writes();
        }
        await tickUntilDone(steady);
      }

      for (let atWrite = 1; whole.start === undefined || whole.end === undefined; atWrite += 1) {
        await begin();
        await sweep('start', { atWrite, when: 'after' });
        expect([atWrite, await crowd.held()]).toEqual([atWrite, crowd.size]);
        await end();
        await sweep('end', { atWrite, when: 'before' });
        expect([atWrite, await crowd.now()]).toEqual([atWrite, made]);
        expect(await writesTo(site.cluster)).toEqual({ cronjobs: [2 * atWrite], applications: [2 * atWrite] });
        await site.remove(holiday);
      }

      expect(deaths).toEqual(whole);
      expect(deaths).toEqual({ start: 6, end: 6 }); // two objects, what is written down of one, two Events and a status
    },
    patience,
  );

  it(
    'FC-70 FC-77 an Application gets back what it had although its ApplicationSet strips it of all marks, and kill -9 at every write to it and to what is written down of it',
    async () => {
      const owned = await makeOwnedApplication(site.client);
      const to = /\/(applications|configmaps)\b/;
      const died: (readonly [boolean, boolean])[] = [];

      for (let atWrite = 1; died.at(-1)?.includes(true) !== false; atWrite += 1) {
        await begin();
        const atStart = await (await startMortal({ atWrite, when: 'after', to }))();
        await owned.strip();
        await tickUntilDone(steady);
        expect([atWrite, await owned.isPaused()]).toEqual([atWrite, true]);
        await owned.strip();
        await end();
        const atEnd = await (await startMortal({ atWrite, when: 'before', to }))();
        await tickUntilDone(steady);
        expect([atWrite, await owned.now()]).toEqual([atWrite, owned.made]);
        await site.remove(holiday);
        died.push([atStart, atEnd]);
      }

      // Written down and paused; given back and struck off.
      expect(died).toEqual([
        [true, true],
        [true, true],
        [false, false],
      ]);
    },
    patience,
  );

  it(
    'FC-62 FC-68 FC-70 1,000 CronJobs and 200 Applications are touched once at its start and once at its end, and restored byte for byte, with two replicas, doubled ticks, kills and users who edit',
    async () => {
      const crowd = await makeCrowd(site.client, 1000, 200);
      const made = await crowd.now();

      const died = [await amid(crowd, 'starting', begin, { atWrite: 40, when: 'after' })];
      const held = await crowd.held();
      const begun = await writesTo(site.cluster);
      died.push(await amid(crowd, 'ending', end, { atWrite: 201, when: 'before' }));

      expect(died).toEqual([true, true]);
      // A CronJob was also labelled by its owner, once in each of the two.
      expect([held, begun]).toEqual([1200, { cronjobs: thousand(2), applications: thousand(1).slice(0, 200) }]);
      expect(await writesTo(site.cluster)).toEqual({ cronjobs: thousand(4), applications: thousand(2).slice(0, 200) });
      expect(await crowd.now()).toEqual(made.map(withLabels));
    },
    patience,
  );

  /** A turn that two replicas work on, one of which gets each tick twice and the other of which dies, while users edit. */
  async function amid(crowd: Crowd, label: string, turn: () => Promise<void>, death: Death): Promise<boolean> {
    const work = await startMortal(death);
    await turn();
    const [died] = await Promise.all([work(), tickUntilDone(steady), tickUntilDone(steady), crowd.label(label)]);
    await tickUntilDone(steady);
    return died;
  }

  it('FC-72 writes its status at most once a minute while nothing changes, however often it is told to look', async () => {
    await begin();
    await tickUntilDone(steady);
    const began = performance.now();
    const before = await statusWrites();

    for (let count = 0; count < 30; count += 1) {
      await Promise.all([site.tick(steady), site.tick(steady)]);
    }

    expect((await statusWrites()) - before).toBeLessThanOrEqual(Math.ceil((performance.now() - began) / 60_000));
  });

  async function statusWrites(): Promise<number> {
    const audit = await settledAudit(site.cluster, site.client);
    const calls = callsOf(usernameOf('freeze-check', 'events'), audit);
    return calls['patch changefreezes/status'] ?? 0;
  }
});

function thousand(each: number): readonly number[] {
  return Array.from({ length: 1000 }, () => each);
}

/** What the users of this suite left on a CronJob. */
function withLabels(object: object): object {
  const { metadata, ...rest } = object as { readonly metadata: { readonly labels?: object; readonly name: string } };
  const labels = metadata.name.startsWith('job-') ? { starting: 'yes', ending: 'yes' } : {};
  return {
    ...rest,
    metadata: { ...metadata, ...(metadata.labels === undefined ? {} : { labels: { ...metadata.labels, ...labels } }) },
  };
}
