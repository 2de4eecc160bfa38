import { changeFreezes } from '../../functions/freeze-check/policy.ts';
import { apiVersion } from '../../lib/kube/model/resource.ts';
import { freeze } from '../../functions/freeze-check/test/objects.ts';
import { send } from '../support/http.ts';
import { median, ratio, type Figure } from './measure/figure.ts';
import { host, openPlace, passMinutes, path, rollout, setPolicies, until, type Place } from './measure/freeze-place.ts';
import { missing, pace, type Pace } from './measure/pace.ts';
import type { Started } from './measure/program.ts';
import { inTurns } from './measure/turns.ts';

export const about = 'reviews of Deployments that policies refuse, over TLS on one core, against node:https alone';

const round = { path, reviews: 400, connections: 8, host };

/** Windows are open for a second: the answer is nearly always no. */
const schedules = {
  daily: `0 ${(new Date().getUTCHours() + 12) % 24} * * *`,
  hourly: '0 * * * *',
  'every 5 minutes': '*/5 * * * *',
  'every minute': '* * * * *',
};
type Density = keyof typeof schedules;
const densities = Object.keys(schedules) as Density[];

/** How many policies, and how many rounds: most where the figures have the most bars. */
const roundsAt = { 1: 7, 10: 7, 100: 11, 500: 7 } as const;
const counts = [1, 10, 100, 500] as const;
type Count = (typeof counts)[number];

export async function run(): Promise<readonly Figure[]> {
  const stack = new AsyncDisposableStack();
  try {
    const place = await openPlace(stack);
    const figures: Figure[] = [];
    for (const count of counts) {
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

type Paces = Readonly<Record<'floor' | Density, readonly Pace[]>>;

/**
 * Measures `count` policies, of each density in turn, by one process: a busy moment of the machine, and what the
 * process has learned by then, fall on all of them. In each round a minute passes, so every round has the turns that
 * its density has in a minute.
 */
async function atCount(place: Place, count: Count): Promise<Figure[]> {
  const sent = { ...round, body: rollout, ca: place.ca };
  async function served(density: Density): Promise<Pace> {
    await setPolicies(place, count, schedules[density]);
    await passMinutes(place, 1);
    return pace(place.served, sent);
  }
  const paces: Paces = await inTurns(
    {
      floor: () => pace(place.floor, sent),
      daily: () => served('daily'),
      hourly: () => served('hourly'),
      'every 5 minutes': () => served('every 5 minutes'),
      'every minute': () => served('every minute'),
    },
    { rounds: roundsAt[count], warmUp: 1 },
  );
  return [
    ...densities.flatMap((density) => [
      againstFloor(count, density, paces),
      ...(count === 100 ? [evaluation(density, paces)] : []),
    ]),
    flatness(count, paces),
  ];
}

function againstFloor(count: Count, density: Density, { floor, [density]: served }: Paces): Figure {
  return {
    what: `${count} policies that open ${density}, CPU per review`,
    value: ratio(cpuOf(served), cpuOf(floor)),
    unit: '×',
    ...(count === 100 ? { bar: { atMost: 4 } } : {}),
    measured: `${summary(served)}; floor ${summary(floor)}`,
  };
}

function evaluation(density: Density, paces: Paces): Figure {
  const what = `100 policies that open ${density}, µs of CPU to evaluate`;
  return {
    what,
    value: median(evaluations(density, paces)),
    unit: '',
    bar: { atMost: 2_000 },
    measured: 'above the floor',
  };
}

/** All that reviews cost beyond what node:https takes for their bytes, so no less than their evaluation does; by round. */
function evaluations(density: Density, { floor, [density]: served }: Paces): readonly number[] {
  return cpuOf(served).map((cpu, round) => cpu - (cpuOf(floor)[round] ?? Number.NaN));
}

/**
 * Each density against daily in the same rounds, by what the evaluation costs without the bytes that all have. A few
 * policies cost next to nothing, so that the rest would be noise: then by all that a review costs.
 */
function flatness(count: Count, paces: Paces): Figure {
  const isMuch = count >= 100;
  function costOf(density: Density): readonly number[] {
    return isMuch ? evaluations(density, paces) : cpuOf(paces[density]);
  }
  const ratios = densities.map((density) => ({ density, value: ratio(costOf(density), costOf('daily')) }));
  return {
    what: `${count} policies, ${isMuch ? 'evaluation' : 'review'} of the costliest density against daily`,
    value: Math.max(...ratios.map(({ value }) => value)),
    unit: '×',
    bar: { atMost: 1.3 },
    measured: ratios.map(({ density, value }) => `${density} ${value.toFixed(2)}`).join(', '),
  };
}

/** FC-78: 300 policies, the slowest reviews where windows open every three minutes against those where they do daily. */
async function tailOfDense(place: Place): Promise<Figure> {
  const { daily, dense } = await inTurns(
    { daily: () => tail(place, schedules.daily), dense: () => tail(place, '*/3 * * * *') },
    { rounds: 3, warmUp: 1 },
  );
  const measured = `${median(dense).toFixed(1)} ms / ${median(daily).toFixed(1)} ms, the former while all windows turn`;
  const what = '300 policies, p99 with windows every 3 minutes against daily';
  return { what, value: ratio(dense, daily), unit: '×', bar: { atMost: 1.3 }, measured };
}

/** The p99 of a round in which three minutes pass: enough reviews that those at the turn are not all it consists of. */
async function tail(place: Place, schedule: string): Promise<number> {
  await setPolicies(place, 300, schedule);
  await passMinutes(place, 3);
  const { p99 } = await pace(place.served, { ...round, reviews: 2_000, body: rollout, ca: place.ca });
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
  await setPolicies(place, 0, schedules.daily);
  const times: number[] = [];
  for (let turn = 0; turn < 20; turn += 1) {
    await until(place, ({ allowed }) => allowed);
    const policy = freeze('now', ['2020-01-01T00:00:00Z', '2100-01-01T00:00:00Z']);
    await place.sandbox.api.create(changeFreezes, {
      apiVersion: apiVersion(changeFreezes),
      kind: 'ChangeFreeze',
      ...policy,
    });
    times.push(await until(place, ({ allowed }) => !allowed));
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

function summary(paces: readonly Pace[]): string {
  const [cpu = 0, p50 = 0, p99 = 0] = [cpuOf(paces), paces.map((each) => each.p50), paces.map((each) => each.p99)].map(
    median,
  );
  return `${cpu.toFixed(0)} µs, p50 ${p50.toFixed(2)} ms, p99 ${p99.toFixed(2)} ms`;
}
