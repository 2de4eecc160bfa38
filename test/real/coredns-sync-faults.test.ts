import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Environment } from '../../lib/function/config.ts';
import type { Ingress } from '../../lib/kube/resource.ts';
import { disordered, oracle, oracleSettings, seeded } from '../coredns-sync/oracle.ts';
import { binaryEvent, send, type Event } from '../http.ts';
import { chapters, stable, type Chapter } from './coredns-sync-chapters.ts';
import {
  ingressChanged,
  ingressesPath,
  openCoreDnsSyncSite,
  shippedWith,
  tell,
  theCorefile,
  theDeployment,
  ticking,
  type CoreDnsSyncSite,
} from './coredns-sync-site.ts';
import { installRights, startFunction, type RealFunction } from './function.ts';
import { startKillingProxy, type Death, type KillingProxy } from './killing-proxy.ts';
import { pathOf } from './manifests.ts';
import { followRules, type Followed } from './rules-watch.ts';

const patience = 600_000;
const settings = {
  ...oracleSettings,
  ...{ ADOPT: 'true', COREDNS_AUTO_CONFIGURE: 'true', ALLOW_MASS_REMOVAL: 'true', MAX_HEALS_PER_HOUR: '1000' },
  ...{ MIN_WRITE_INTERVAL_MS: '0', SHARD_BYTES: '4096', MAX_SHARDS: '4', DRAIN_SECONDS: '0' },
};
const shipped = shippedWith(settings);

/** Of the processes that are killed while the other one works beside them. */
const lives = 6;

describe('two processes of coredns-sync on a real API server, one of which is killed again and again', () => {
  const running = new AsyncDisposableStack();
  const random = seeded(11);
  let site: CoreDnsSyncSite;
  let proxy: KillingProxy;
  let survivor: RealFunction;
  let followed: Followed;

  beforeAll(async () => {
    site = running.use(await openCoreDnsSyncSite());
    proxy = running.use(await startKillingProxy(site.cluster.access));
    await site.apply(theDeployment);
    await installRights(site.cluster, shipped);
    survivor = await startFunction(site.cluster, shipped, { port: 0, environment: settings });
    for (const [index, host] of stable.entries()) {
      await site.put(`stable-${index}`, [host]);
    }
    await tell(survivor, ticking);
    await site.rollOut();
    await tell(survivor, ticking);
    followed = running.use(await followRules(site.client));
    const first = await startVictim(1);
    await tell(first, ticking);
    await first.running.stop('SIGTERM'); // one that is killed leaves nothing compiled
  }, patience);
  afterAll(() => running.disposeAsync());

  it.each(chapters)(
    'dead before or after any write while $what: one tick makes the rules those of the oracle, and no host that stayed valid was ever missing',
    async (chapter) => {
      // Before a write is the same as after the last one: every point is visited twice, once for each kind of heir.
      const before = await killAtEveryWrite(chapter, 'before');
      const after = await killAtEveryWrite(chapter, 'after');

      process.stderr.write(`${chapter.what}: dead at each of ${before} and ${after} writes\n`);
      expect(Math.min(before, after)).toBeGreaterThanOrEqual(chapter.least);
    },
    patience,
  );

  /** Dies at one write after the other until there is none left. Returns how many there were. */
  async function killAtEveryWrite(chapter: Chapter, when: Death['when']): Promise<number> {
    let victim = await startVictim(1, chapter.environment);
    for (let atWrite = 1; ; atWrite += 1) {
      await chapter.prepare(site);
      await tell(survivor, ticking);
      const [told, next] = await Promise.all([
        playAndDie(victim, chapter, { atWrite, when }),
        startVictim(1 + (atWrite % 2), chapter.environment), // meanwhile, since a start takes longest
      ]);
      const struck = proxy.struck();
      proxy.arm(next.running);
      await (when === 'after' ? tell(next, ticking) : goOn(told));
      await expectOracle([chapter.what, when, atWrite]);
      victim = next;
      if (!struck) {
        await victim.running.stop();
        return atWrite - 1;
      }
    }
  }

  /** Compiled once, since there are about a hundred of them. */
  function startVictim(port: number, environment: Environment = {}): Promise<RealFunction> {
    const NODE_COMPILE_CACHE = join(site.cluster.site.directory, 'compiled');
    const options = { server: proxy.url, environment: { ...settings, ...environment, NODE_COMPILE_CACHE } };
    return startFunction(site.cluster, shipped, { port, ...options });
  }

  /** What it was told, or would have been. At the end it has to write what it owes, or dies over that. */
  async function playAndDie(victim: RealFunction, { play }: Chapter, death: Death): Promise<readonly Event[]> {
    const told: Event[] = [];
    proxy.arm(victim.running, death);
    await play(site, async (event) => {
      told.push(event);
      await deliver(victim, [event]);
    });
    await victim.running.stop('SIGTERM');
    return told;
  }

  /** The other process hears of it all as on a bad day, then its tick comes. */
  async function goOn(told: readonly Event[]): Promise<void> {
    await deliver(survivor, disordered(told, random));
    await tell(survivor, ticking);
  }

  async function expectOracle(moment: readonly unknown[]): Promise<void> {
    const { items = [] } = await site.read(ingressesPath);

    expect([moment, await followed.lines()]).toEqual([moment, oracle(items as Ingress[])]);
    expect([moment, followed.missed(stable)]).toEqual([moment, []]);
  }

  it(
    'dead while the other works beside it, with events lost, doubled and reordered for both: the same',
    async () => {
      let deaths = 0;
      for (let atWrite = 1; atWrite <= lives; atWrite += 1) {
        deaths += Number(await liveAndDie(atWrite));
      }

      expect(deaths).toBeGreaterThanOrEqual(lives / 2); // the other process may have done the work already
    },
    patience,
  );

  /** Whether the process died before it had done everything. */
  async function liveAndDie(atWrite: number): Promise<boolean> {
    const victim = await startVictim(1);
    proxy.arm(victim.running, { atWrite, when: 'after' });
    const changes = await changeSome(atWrite);
    const [first, ...rest] = disordered(changes, random);
    // The survivor hears of it all, too, but not so early that nothing is left to do for the victim.
    await deliver(victim, first === undefined ? [] : [first]);
    await Promise.all([
      deliver(victim, [...rest, ticking]),
      deliver(survivor, disordered(changes, random).toReversed()),
    ]);
    await victim.running.stop();
    await tell(survivor, ticking);
    await expectOracle(['beside the other', atWrite]);
    return proxy.struck();
  }

  /** Additions, moves, changes of class and removals; rules spread out and draw together again. */
  async function changeSome(round: number): Promise<readonly Event[]> {
    const { put, remove } = site;
    const many = Array.from({ length: 60 }, (_, index) => `many-${index}.example.com`);
    const gone = round > 1 ? [`one-${round - 1}`, `two-${round - 1}`] : [];
    await put(`one-${round}`, [`one-${round}.example.com`, 'shared.example.com']);
    await put(`two-${round}`, [`two-${round}.example.com`, 'stable-1.example.com'], 'other');
    await put(`one-${round}`, [`moved-${round}.example.com`]);
    await put(`two-${round}`, [`two-${round}.example.com`, 'shared.example.com']);
    await put('many', round % 2 === 1 ? many : many.slice(0, 1));
    await Promise.all(gone.map((name) => remove(`${ingressesPath}/${name}`)));
    return [`one-${round}`, `two-${round}`, `one-${round}`, `two-${round}`, 'many', ...gone].map(ingressChanged);
  }

  it('after all of that CoreDNS imports the rules exactly once', async () => {
    await tell(survivor, ticking);
    await site.rollOut();
    await tell(survivor, ticking);
    const { data } = await site.read(pathOf(theCorefile));

    expect(data?.['Corefile']?.match(/import .*coredns-ingress-sync/g)).toHaveLength(1);
  });

  /** What was sent to the dead is lost. */
  async function deliver({ url }: RealFunction, events: readonly Event[]): Promise<void> {
    for (const event of events) {
      const status = await send(url, binaryEvent(event)).then(
        (answer) => answer.status,
        () => 'lost' as const,
      );
      expect([204, 503, 'lost']).toContain(status);
    }
  }
});
