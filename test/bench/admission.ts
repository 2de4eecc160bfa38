import { memoryOf, standardYoungMb } from '../../lib/install/manifests/container.ts';
import { reviewPath, startShipped, type ShippedWebhook } from '../../functions/node-affinity-mutate/test/shipped.ts';
import { median, ratio, type Figure } from './measure/figure.ts';
import { pace, type Pace } from './measure/pace.ts';
import { benchProgram, start, type Started } from './measure/program.ts';
import { podReview } from './measure/reviews.ts';
import { inTurns } from './measure/turns.ts';

export const about =
  'reviews of pods over TLS on 8 kept connections and one core, against node:https with a constant patch';

const perRound = 500;
const connections = 8;

const reviews = [5_000, 20_000].flatMap((bytes) =>
  [false, true].map((rich) => ({
    what: `${bytes / 1000} KB ${rich ? 'with rich affinity' : 'bare'}`,
    body: podReview({ bytes, rich }),
  })),
);

export async function run(): Promise<readonly Figure[]> {
  const stack = new AsyncDisposableStack();
  try {
    const { floor, served } = await openPair(stack);
    const figures: Figure[] = [];
    for (const { what, body } of reviews) {
      const paces = await inTurns(
        { floor: () => measure(floor, body, served), served: () => measure(served.program, body, served) },
        { rounds: 7, warmUp: 4 },
      );
      figures.push(...compare(what, paces.served, paces.floor));
    }
    const [own, bare] = [await served.program.usage(), await floor.usage()];
    const measured = `${own.residentMb.toFixed(0)} MB / ${bare.residentMb.toFixed(0)} MB`;
    return [...figures, { what: 'resident memory after all that', value: own.residentMb, unit: 'MB', measured }];
  } finally {
    await stack.disposeAsync();
  }
}

/** The function as it is shipped and the floor under the same flags, each alone on one core; the bench has the others. */
async function openPair(stack: AsyncDisposableStack): Promise<{ floor: Started; served: ShippedWebhook }> {
  const served = stack.use(await startShipped({ core: 0 }));
  const { certificates: CERT_DIR, patch: PATCH, flags } = served;
  const environment = { ...memoryOf({ youngMb: standardYoungMb }), CERT_DIR, PATCH };
  const floor = await start({ ...benchProgram('review.cjs', environment), flags, core: 0 });
  stack.defer(async () => {
    await floor.stop();
  });
  return { floor, served };
}

function measure(program: Started, body: string, { ca, host }: ShippedWebhook): Promise<Pace> {
  return pace(program, { path: reviewPath, body, reviews: perRound, connections, ca, host });
}

function compare(what: string, served: readonly Pace[], floor: readonly Pace[]): Figure[] {
  function of(key: keyof Pace): [number[], number[]] {
    return [served.map((pace) => pace[key]), floor.map((pace) => pace[key])];
  }
  function format(key: keyof Pace, unit: string, digits = 0): string {
    return of(key)
      .map((values) => `${median(values).toFixed(digits)} ${unit}`)
      .join(' / ');
  }
  return [
    {
      what: `${what}, CPU per review`,
      value: ratio(...of('cpuMicros')),
      unit: '×',
      bar: { atMost: 1.5 },
      measured: format('cpuMicros', 'µs'),
    },
    {
      what: `${what}, reviews per second`,
      value: ratio(...of('perSecond')),
      unit: '×',
      measured: `${format('perSecond', '/s')}, p50 ${format('p50', 'ms', 2)}, p99 ${format('p99', 'ms', 2)}`,
    },
  ];
}
