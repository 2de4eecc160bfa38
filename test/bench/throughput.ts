import type { Sent } from '../support/http.ts';
import { median, ratio, type Figure } from './measure/figure.ts';
import { flood, foreignEvent, ingressEvent } from './measure/load.ts';
import { benchProgram, start, type Program, type Started } from './measure/program.ts';
import { openSite } from './measure/site.ts';
import { inTurns } from './measure/turns.ts';

export const about = 'events per second and CPU per event over 8 kept connections, against bare node:http';

interface Pace {
  readonly perSecond: number;
  readonly cpuMicros: number;
}

const events = 800;

export async function run(): Promise<readonly Figure[]> {
  const site = await openSite();
  const programs: readonly Program[] = [benchProgram('bare.cjs'), site.functionProgram({ LOG_LEVEL: 'info' })];
  const [bare, served] = (await Promise.all(programs.map(start))) as [Started, Started];
  try {
    const paces = await inTurns(
      {
        bare: () => measure(bare, ingressEvent),
        foreign: () => measure(served, foreignEvent),
        sync: () => measure(served, ingressEvent),
      },
      { rounds: 9, warmUp: 3 },
    );
    return [
      ...compare('events that are not ours: the surface alone', paces.foreign, paces.bare),
      ...compare('events that read the cluster and change nothing', paces.sync, paces.bare),
    ];
  } finally {
    await Promise.all([bare.stop(), served.stop()]);
    await site.close();
  }
}

async function measure({ urls, usage }: Started, event: Sent): Promise<Pace> {
  const [url] = urls;
  if (url === undefined) {
    throw new Error('the program reports no address');
  }
  const before = await usage();
  const started = performance.now();
  await flood(url, event, { events });
  const seconds = (performance.now() - started) / 1000;
  const after = await usage();
  return { perSecond: events / seconds, cpuMicros: ((after.cpuMs - before.cpuMs) * 1000) / events };
}

function compare(what: string, paces: readonly Pace[], bare: readonly Pace[]): Figure[] {
  const rates = [paces, bare].map((each) => each.map(({ perSecond }) => perSecond)) as [number[], number[]];
  const costs = [paces, bare].map((each) => each.map(({ cpuMicros }) => cpuMicros)) as [number[], number[]];
  return [
    {
      what: `${what}, events per second`,
      value: ratio(...rates),
      unit: '×',
      measured: rates.map((rate) => `${median(rate).toFixed(0)}/s`).join(' / '),
    },
    {
      what: `${what}, CPU per event`,
      value: ratio(...costs),
      unit: '×',
      measured: costs.map((cost) => `${median(cost).toFixed(0)} µs`).join(' / '),
    },
  ];
}
