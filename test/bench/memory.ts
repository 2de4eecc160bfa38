import { median, type Figure } from './measure/figure.ts';
import { expectStatus, flood, ingressEvent } from './measure/load.ts';
import { benchProgram, start, type Program } from './measure/program.ts';
import { openSite } from './measure/site.ts';
import { inTurns } from './measure/turns.ts';

export const about = 'resident memory of a function beyond that of bare node:http';

interface Memory {
  readonly idleMb: number;
  readonly usedMb: number;
}

export async function run(): Promise<readonly Figure[]> {
  const site = await openSite();
  try {
    const memories = await inTurns(
      { bare: () => measure(benchProgram('bare.cjs')), served: () => measure(site.functionProgram()) },
      { rounds: 7, warmUp: 1 },
    );
    return [
      beyond('idle, after one event', 'idleMb', memories, { atMost: 25 }),
      beyond('after 1,000 events', 'usedMb', memories),
    ];
  } finally {
    await site.close();
  }
}

/** After one event everything is loaded that an idle function holds. */
async function measure(program: Program): Promise<Memory> {
  const { urls, usage, stop } = await start(program);
  const [url] = urls;
  if (url === undefined) {
    throw new Error('the program reports no address');
  }
  try {
    await expectStatus(url, ingressEvent, 204);
    const { residentMb: idleMb } = await usage();
    await flood(url, ingressEvent, { events: 1_000 });
    const { residentMb: usedMb } = await usage();
    return { idleMb, usedMb };
  } finally {
    await stop();
  }
}

function beyond(
  what: string,
  key: keyof Memory,
  { bare, served }: Readonly<Record<'bare' | 'served', readonly Memory[]>>,
  bar?: Figure['bar'],
): Figure {
  const own = median(served.map((each) => each[key]));
  const floor = median(bare.map((each) => each[key]));
  return {
    what: `${what}, beyond bare node:http`,
    value: own - floor,
    unit: 'MB',
    ...(bar === undefined ? {} : { bar }),
    measured: `${own.toFixed(0)} MB / ${floor.toFixed(0)} MB`,
  };
}
