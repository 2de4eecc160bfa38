import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Environment } from '../../../../lib/function/config.ts';
import { rulesName } from '../world.ts';
import { settledAudit } from '../../../../test/real/parts/audit.ts';
import {
  askForCleanup,
  everything as features,
  meetCoreDns,
  mounting,
  openStage,
  playEverything,
  putMany,
  type Stage,
} from './coredns-sync-rights.ts';
import {
  ingressChanged,
  openCoreDnsSyncSite,
  shippedWith,
  statePath,
  systemConfigMaps,
  tell,
  theDeployment,
  ticking,
  type CoreDnsSyncSite,
} from './coredns-sync-site.ts';
import { refusalOf } from './dns/parse.ts';
import { installRights, startFunction, type Shipped } from '../../../../test/real/support/function.ts';
import { pathOf } from '../../../../test/support/manifests.ts';
import { grantedTo, refusedTo, usedBy } from '../../../../test/real/support/rights.ts';
import { followRules, type Followed } from './rules-watch.ts';

const patience = 300_000;

/** With rules in as many ConfigMaps as there can be: each of them is named. */
const everything = { ...features, MAX_SHARDS: '128' };
const hundreds = 20;

/** The same, and CoreDNS gets nothing of it. */
const preview = { ...everything, RENDER_ONLY: 'true' };

describe('coredns-sync with every feature on, under its shipped rights', () => {
  const running = new AsyncDisposableStack();
  const shipped = shippedWith(everything);
  let site: CoreDnsSyncSite;
  let stage: Stage;
  let followed: Followed;

  beforeAll(async () => {
    site = running.use(await openCoreDnsSyncSite());
    stage = running.use(await openStage(site, hundreds));
    await installRights(site.cluster, shipped);
    followed = running.use(await followRules(site.client));
  }, patience);
  afterAll(() => running.disposeAsync());

  it(
    'uses every verb that it is granted, on every object that is named, and no other',
    async () => {
      const fn = await startFunction(site.cluster, shipped, { port: 0, environment: everything });
      await playEverything(stage, fn);
      await fn.running.stop('SIGTERM');

      await expectExactRights(site, shipped, everything);
    },
    patience,
  );

  it(
    'CS-45 CoreDNS takes every text that was written meanwhile',
    async () => {
      const texts = await followed.texts();

      process.stderr.write(`${texts.length} texts\n`);
      expect(texts.length).toBeGreaterThan(Number(everything.MAX_SHARDS));
      expect(await refusalOf(texts)).toBeUndefined();
    },
    patience,
  );
});

describe('coredns-sync with RENDER_ONLY and every feature on, under its shipped rights', () => {
  it(
    'uses every verb that it is granted and no other, and leaves CoreDNS and its rules alone',
    async () => {
      const shipped = shippedWith(preview);
      await using site = await openCoreDnsSyncSite();
      await using stage = await openStage(site, hundreds);
      await installRights(site.cluster, shipped);
      const fn = await startFunction(site.cluster, shipped, { port: 0, environment: preview });
      await meetCoreDns(stage, fn, mounting(Number(preview.MAX_SHARDS)));
      await site.rollOut();
      await site.put('before', ['before.example.com']);
      await tell(fn, ingressChanged('before'));
      const before = await observed((name) => !name.startsWith(`${rulesName}-preview`));
      await putMany(stage, 'first');
      await tell(fn, ticking);
      const { data } = await site.read(`${statePath}-preview`);
      await putMany(stage, 'second');
      await tell(fn, ticking);
      await askForCleanup(stage, fn, `${statePath}-preview`);
      await fn.running.stop('SIGTERM');

      expect(JSON.parse(data?.['preview'] ?? '{}')).toMatchObject({ adds: { count: 2002 }, removes: { count: 0 } });
      expect(await observed()).toEqual(before);
      await expectExactRights(site, shipped, preview);

      /** All that CoreDNS reads, and all that could be rules. */
      async function observed(isOther = (_name: string): boolean => true): Promise<unknown> {
        const { items = [] } = await site.read(systemConfigMaps);
        const others = items.filter(({ metadata }) => isOther(metadata?.name ?? ''));
        return [await site.read(pathOf(theDeployment)), others];
      }
    },
    patience,
  );
});

async function expectExactRights(site: CoreDnsSyncSite, { definition }: Shipped, settings: Environment): Promise<void> {
  const audit = await settledAudit(site.cluster, site.client);
  expect(refusedTo(definition, 'events', audit)).toEqual([]);
  expect(usedBy(definition, 'events', audit, settings)).toEqual(grantedTo(definition, 'events', settings));
}
