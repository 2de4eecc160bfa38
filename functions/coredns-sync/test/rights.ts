import type { Scenario, Stage } from '../../../test/contract/rights/stage.ts';
import {
  askForCleanup,
  everything,
  meetCoreDns,
  mounting,
  openStage,
  playEverything,
  putMany,
} from './real/coredns-sync-rights.ts';
import { settleIn, statePath, tell, ticking } from './real/coredns-sync-site.ts';

const shards = 8;
const settings = { ...everything, MAX_SHARDS: String(shards) };

/** Hosts that need more than one ConfigMap. */
const hundreds = 1;

/** What the suite on the real API server does, with fewer hosts. */
export const scenario: Scenario = {
  runs: [
    {
      what: 'every feature',
      settings,
      bare: true,
      play: everyFeature,
    },
    {
      what: 'every feature for one namespace',
      settings: { ...settings, WATCH_NAMESPACES: 'shop' },
      bare: true,
      play: everyFeature,
    },
    {
      what: 'a preview',
      settings: { ...settings, RENDER_ONLY: 'true' },
      bare: true,
      play: preview,
    },
  ],
};

async function everyFeature({ client, running }: Stage): Promise<void> {
  await using stage = await openStage(await settleIn(client), hundreds);
  await playEverything(stage, running('events'));
}

async function preview({ client, running }: Stage): Promise<void> {
  const fn = running('events');
  await using stage = await openStage(await settleIn(client), hundreds);
  await meetCoreDns(stage, fn, mounting(shards));
  await stage.site.rollOut();
  for (const name of ['first', 'second']) {
    await putMany(stage, name);
    await tell(fn, ticking);
  }
  await askForCleanup(stage, fn, `${statePath}-preview`);
}
