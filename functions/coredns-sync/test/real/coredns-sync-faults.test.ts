import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Environment } from '../../../../lib/function/config.ts';
import type { Ingress } from '../../../../lib/kube/model/resource.ts';
import { disordered, oracle, oracleSettings, seeded } from '../oracle.ts';
import { binaryEvent, send, type Event } from '../../../../test/support/http.ts';
import { changesOf, chapters, stable, type Change, type Chapter } from './coredns-sync-chapters.ts';
import {
  ingressesPath,
  openCoreDnsSyncSite,
  shippedWith,
  tell,
  theCorefile,
  theDeployment,
  ticking,
  type CoreDnsSyncSite,
} from './coredns-sync-site.ts';
import { refusalOf } from './dns/parse.ts';
import { installRights, startFunction, type RealFunction } from '../../../../test/real/support/function.ts';
import { startKillingProxy, type Death, type KillingProxy } from '../../../../test/real/support/killing-proxy.ts';
import { pathOf } from '../../../../test/support/manifests.ts';
import { followRules, type Followed } from './rules-watch.ts';

const patience = 1_200_000;
const settings = {
  ...oracleSettings,
  ...{ ADOPT: 'true', COREDNS_AUTO_CONFIGURE: 'true', ALLOW_MASS_REMOVAL: 'true', MAX_HEALS_PER_HOUR: '1000' },
  ...{ MIN_WRITE_INTERVAL_MS: '0', SHARD_BYTES: '4096', MAX_SHARDS: '4', DRAIN_SECONDS: '0' },
};
const shipped = shippedWith(settings);

/** Of the processes that are killed while the other one works beside them, each a write later than the one before. */
const lives = 6;

describe('two processes of coredns-sync on a real API server, one of which is killed again and again', () => {
  const running = new AsyncDisposableStack();
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
    const random = seeded(11);
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
      await (when === 'after' ? tell(next, ticking) : goOn(disordered(told, random)));
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

  /** The other process hears of it, then its tick comes. */
  async function goOn(told: readonly Event[]): Promise<void> {
    await deliver(survivor, told);
    await tell(survivor, ticking);
  }

  async function expectOracle(moment: readonly unknown[]): Promise<void> {
    const { items = [] } = await site.read(ingressesPath);

    expect([moment, await followed.lines()]).toEqual([moment, oracle(items as Ingress[])]);
    expect([moment, followed.missed(stable)]).toEqual([moment, []]);
  }

  it(
    'dead again and again while the other works beside it, a hundred events lost, doubled and reordered between them: the same',
    async () => {
      const changes = Array.from({ length: 15 }, (_, round) => changesOf(site, round + 1)).flat();
      const deaths = await liveAndDie(changes);
      await tell(survivor, ticking);

      await expectOracle(['beside the other']);
      expect(deaths).toBe(lives);
    },
    patience,
  );

  /**
   * Each event goes to one of the two, and two at a time: neither runs ahead and leaves nothing to do for the other. A change
   * is made just before the first event about it or a later one. Returns how often the one died.
   */
  async function liveAndDie(changes: readonly Change[]): Promise<number> {
    const arriving = disordered([...changes.entries()], seeded(11));
    let deaths = 0;
    let made = 0;
    let victim = await startMortal(deaths);
    for (let at = 0; at < arriving.length; at += 2) {
      const pair = arriving.slice(at, at + 2);
      made += await makeAll(changes.slice(made, 1 + Math.max(...pair.map(([index]) => index))));
      const [its = [], others = []] = pair.map(([, { event }]) => [event]);
      await Promise.all([deliver(victim, its), deliver(survivor, others)]);
      if (proxy.struck()) {
        await victim.running.stop();
        deaths += 1;
        victim = await startMortal(deaths);
      }
    }
    await makeAll(changes.slice(made)); // the events of these were lost
    await victim.running.stop();
    return deaths;
  }

  async function makeAll(changes: readonly Change[]): Promise<number> {
    for (const { make } of changes) {
      await make();
    }
    return changes.length;
  }

  async function startMortal(deaths: number): Promise<RealFunction> {
    const victim = await startVictim(1);
    const death: Death = { atWrite: deaths + 1, when: deaths % 2 === 0 ? 'after' : 'before' };
    proxy.arm(victim.running, deaths < lives ? death : undefined);
    return victim;
  }

  it('after all of that CoreDNS imports the rules exactly once', async () => {
    await tell(survivor, ticking);
    await site.rollOut();
    await tell(survivor, ticking);
    const { data } = await site.read(pathOf(theCorefile));

    expect(data?.['Corefile']?.match(/import .*coredns-ingress-sync/g)).toHaveLength(1);
  });

  it(
    'CS-45 CoreDNS takes every text that anybody could have read',
    async () => {
      const texts = await followed.texts();

      process.stderr.write(`${texts.length} texts\n`);
      expect(texts.length).toBeGreaterThan(chapters.length);
      expect(await refusalOf(texts)).toBeUndefined();
    },
    patience,
  );

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
