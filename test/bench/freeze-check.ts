import { setTimeout as pause } from 'node:timers/promises';
import { changeFreezes } from '../../functions/freeze-check/policy.ts';
import { apiVersion } from '../../lib/kube/resource.ts';
import { freeze } from '../freeze-check/objects.ts';
import { send } from '../http.ts';
import { median, ratio, type Figure } from './measure/figure.ts';
import { host, openPlace, path, rollout, setPolicies, untilVerdict, type Place } from './measure/freeze-place.ts';
import { missing, pace, type Pace } from './measure/pace.ts';
import type { Started } from './measure/program.ts';
import { inTurns } from './measure/turns.ts';

export const about = 'reviews of Deployments that policies refuse, over TLS on one core, against node:https alone';

const round = { path, reviews: 300, connections: 8, host };

/** Windows are open for a second: the answer is nearly always no, and the dense ones turn while they are measured. */
const schedules = {
  daily: `0 ${(new Date().getUTCHours() + 12) % 24} * * *`,
  hourly: '0 * * * *',
  'every 5 minutes': '*/5 * * * *',
  'every minute': '* * * * *',
};
type Density = keyof typeof schedules;

export async function run(): Promise<readonly Figure[]> {
  const stack = new AsyncDisposableStack();
  try {
    const place = await openPlace(stack);
    const figures: Figure[] = [];
    for (const count of [1, 10, 100, 500]) {
      figures.push(...(await atCount(place, count)));
    }
    figures.push(await tailOfDense(place));
    const { residentMb } = await place.served.usage();
    const memory = { what: 'resident memory after all that', unit: 'MB', measured: '' } as const;
    return [...figures, await listsPerReview(place), await untilDenied(place), { ...memory, value: residentMb }];
  } finally {
    await stack.disposeAsync();
  }
}

/** So many policies of each density in turn. */
async function atCount(place: Place, count: number): Promise<Figure[]> {
  const paces = new Map<Density, readonly Pace[]>();
  const figures: Figure[] = [];
  for (const [density, schedule] of Object.entries(schedules) as [Density, string][]) {
    await setPolicies(place.sandbox, count, schedule);
    await untilVerdict(place, false);
    const { served, floor } = await inTurns(
      {
        floor: () => pace(place.floor, { ...round, body: rollout, ca: place.ca }),
        served: () => pace(place.served, { ...round, body: rollout, ca: place.ca }),
      },
      { rounds: 5, warmUp: 1 },
    );
    paces.set(density, served);
    figures.push({
      what: `${count} policies that open ${density}, CPU per review`,
      value: ratio(cpuOf(served), cpuOf(floor)),
      unit: '×',
      ...(count === 100 ? { bar: { atMost: 4 } } : {}),
      measured: `${told(served)}; floor ${told(floor)}`,
    });
    if (count === 100) {
      figures.push(evaluation(density, served, floor));
    }
  }
  return [...figures, flatness(count, paces)];
}

/** All that a review costs beyond what node:https takes for its bytes, so no less than what its evaluation does. */
function evaluation(density: Density, served: readonly Pace[], floor: readonly Pace[]): Figure {
  const value = median(cpuOf(served).map((cpu, index) => cpu - (cpuOf(floor)[index] ?? 0)));
  const what = `100 policies that open ${density}, µs of CPU to evaluate`;
  return { what, value, unit: '', bar: { atMost: 2_000 }, measured: 'above the floor' };
}

/** The densest against the daily one, by the best round of each: what else the machine does only adds. */
function flatness(count: number, paces: ReadonlyMap<Density, readonly Pace[]>): Figure {
  const best = [...paces].map(([density, all]) => ({ density, cpu: Math.min(...cpuOf(all)) }));
  const daily = best.find(({ density }) => density === 'daily')?.cpu ?? Number.NaN;
  return {
    what: `${count} policies, the costliest density against daily`,
    value: Math.max(...best.map(({ cpu }) => cpu)) / daily,
    unit: '×',
    bar: { atMost: 1.3 },
    measured: best.map(({ density, cpu }) => `${density} ${cpu.toFixed(0)} µs`).join(', '),
  };
}

/** FC-78: 300 policies, the slowest reviews where windows open every three minutes against those where they do daily. */
async function tailOfDense(place: Place): Promise<Figure> {
  const daily = await tailAcross(place, schedules.daily, Date.now());
  const turn = Math.ceil((Date.now() + 15_000) / minuteMs) * minuteMs;
  const dense = await tailAcross(place, everyThreeMinutesFrom(turn), turn);
  const measured = `${dense.toFixed(1)} ms / ${daily.toFixed(1)} ms, the former while all open and close`;
  const what = '300 policies, p99 with windows every 3 minutes against daily';
  return { what, value: dense / daily, unit: '×', bar: { atMost: 1.3 }, measured };
}

const minuteMs = 60_000;

function everyThreeMinutesFrom(turn: number): string {
  const first = new Date(turn).getUTCMinutes() % 3;
  return `${Array.from({ length: 20 }, (_, index) => first + 3 * index).join(',')} * * * *`;
}

/** The p99 of a round that begins a second before the instant and lasts for some seconds. */
async function tailAcross(place: Place, schedule: string, instant: number): Promise<number> {
  await setPolicies(place.sandbox, 300, schedule);
  await untilVerdict(place, false);
  await pace(place.served, { ...round, body: rollout, ca: place.ca });
  await pause(Math.max(0, instant - 1_000 - Date.now()));
  const { p99 } = await pace(place.served, { ...round, reviews: 6_000, body: rollout, ca: place.ca });
  return p99;
}

/** At a hundred reviews a second: readings are shared for as long as they may be. */
async function listsPerReview(place: Place): Promise<Figure> {
  const before = await listCalls(place.served);
  const started = performance.now();
  while (performance.now() - started < 5_000) {
    await pace(place.served, { ...round, reviews: 20, body: rollout, ca: place.ca });
  }
  const perSecond = ((await listCalls(place.served)) - before) / ((performance.now() - started) / 1000);
  const what = 'list calls per 100 reviews, at 100 a second';
  return { what, value: perSecond, unit: '', bar: { atMost: 5 }, measured: `${perSecond.toFixed(1)} lists/s` };
}

async function listCalls({ urls }: Started): Promise<number> {
  const [url = missing()] = urls;
  const { body } = await send(url, { method: 'GET', path: '/metrics' });
  const counts = body.matchAll(/^kube_reflex_api_calls_total\{[^}]*verb="list"[^}]*\} (\d+)/gm);
  return [...counts].reduce((sum, [, count]) => sum + Number(count), 0);
}

const policyMaxAgeMs = 1_000;

/** From the creation of a freeze to the first refusal. */
async function untilDenied(place: Place): Promise<Figure> {
  await setPolicies(place.sandbox, 0, schedules.daily);
  const times: number[] = [];
  for (let turn = 0; turn < 20; turn += 1) {
    await untilVerdict(place, true);
    const policy = freeze('now', ['2020-01-01T00:00:00Z', '2100-01-01T00:00:00Z']);
    await place.sandbox.api.create(changeFreezes, {
      apiVersion: apiVersion(changeFreezes),
      kind: 'ChangeFreeze',
      ...policy,
    });
    times.push(await untilVerdict(place, false));
    await place.sandbox.api.remove(changeFreezes, { name: 'now' });
  }
  const longest = Math.max(...times);
  const what = 'ms from a policy that is created to the first refusal';
  const measured = `the longest of ${times.length}, median ${median(times).toFixed(0)} ms`;
  return { what, value: longest, unit: '', bar: { atMost: policyMaxAgeMs + 100 }, measured };
}

function cpuOf(paces: readonly Pace[]): readonly number[] {
  return paces.map(({ cpuMicros }) => cpuMicros);
}

function told(paces: readonly Pace[]): string {
  const [cpu = 0, p50 = 0, p99 = 0] = [cpuOf(paces), paces.map((each) => each.p50), paces.map((each) => each.p99)].map(
    median,
  );
  return `${cpu.toFixed(0)} µs, p50 ${p50.toFixed(2)} ms, p99 ${p99.toFixed(2)} ms`;
}
