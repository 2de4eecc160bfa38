import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import https from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundle } from '../../deploy/bundle.ts';
import { launch } from '../../deploy/launch.ts';
import { nodes } from '../../lib/kube/resource.ts';
import { startSandbox } from '../../lib/sandbox/sandbox.ts';
import { binaryEvent, send } from '../http.ts';
import { median, ratio, type Figure } from './measure/figure.ts';
import { benchProgram, start, type Started } from './measure/program.ts';
import { missing, pace, review, type Pace } from './measure/pace.ts';
import { podReview } from './measure/reviews.ts';
import { webhookCertificates } from './measure/site.ts';
import { inTurns } from './measure/turns.ts';

export const about =
  'reviews of pods over TLS on 8 kept connections and one core, against node:https with a constant patch';

const host = 'node-affinity-mutate-webhook.default.svc';
const pool = 'cpu-worker-0';
const path = '/mutate?timeout=3s';
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
    const { floor, served, ca } = await openPair(stack);
    const figures: Figure[] = [];
    for (const { what, body } of reviews) {
      const paces = await inTurns(
        { floor: () => measure(floor, body, ca), served: () => measure(served, body, ca) },
        { rounds: 7, warmUp: 2 },
      );
      figures.push(...compare(what, paces.served, paces.floor));
    }
    const [own, bare] = [await served.usage(), await floor.usage()];
    const measured = `${own.residentMb.toFixed(0)} MB / ${bare.residentMb.toFixed(0)} MB`;
    return [...figures, { what: 'resident memory after all that', value: own.residentMb, unit: 'MB', measured }];
  } finally {
    await stack.disposeAsync();
  }
}

/** The function as it is shipped and the floor, each alone on the same core; the bench itself has the others. */
async function openPair(stack: AsyncDisposableStack): Promise<{ floor: Started; served: Started; ca: Buffer }> {
  const directory = await mkdtemp(join(tmpdir(), 'kube-reflex-bench-'));
  stack.defer(() => rm(directory, { recursive: true }));
  const certificates = await webhookCertificates(join(directory, 'certificates'), host);
  const sandbox = await startSandbox();
  stack.defer(() => sandbox.close());
  await sandbox.api.create(nodes, { metadata: { name: 'n1', labels: { 'worker.gardener.cloud/pool': pool } } });
  await writeFile(join(directory, 'kubeconfig'), JSON.stringify(sandbox.kubeconfig));
  const built = await bundle('functions/node-affinity-mutate', directory);
  const { flags, environment } = launch({ compileCache: join(directory, 'cache') });
  const settings = {
    KUBECONFIG: join(directory, 'kubeconfig'),
    CERT_DIR: certificates,
    POOL_NAME: pool,
    REFRESH_SECONDS: '1',
    PORT: '0',
    TLS_PORT: '0',
    DRAIN_SECONDS: '0',
  };
  const served = await start({ file: built.file, flags, core: 0, environment: { ...environment, ...settings } });
  stack.defer(async () => {
    await served.stop();
  });
  const mounted = join(certificates, '..data');
  const ca = await readFile(join(mounted, 'ca.crt'));
  const PATCH = await untilPatched(served, ca);
  const floor = await start({ ...benchProgram('review.cjs', { CERT_DIR: mounted, PATCH }), core: 0 });
  stack.defer(async () => {
    await floor.stop();
  });
  return { floor, served, ca };
}

/** Lets the function look for its pool; returns the patch that it then answers. */
async function untilPatched(served: Started, ca: Buffer): Promise<string> {
  const agent = new https.Agent({ ca, servername: host });
  const [events = missing()] = served.urls;
  for (;;) {
    await send(events, binaryEvent({ type: 'dev.knative.sources.ping' }));
    const answer = await review(served, { path, body: reviews[0]?.body ?? '', agent }).catch(() => '{}');
    const { response } = JSON.parse(answer) as { readonly response?: { readonly patch?: string } };
    if (response?.patch !== undefined) {
      agent.destroy();
      return Buffer.from(response.patch, 'base64').toString();
    }
  }
}

function measure(program: Started, body: string, ca: Buffer): Promise<Pace> {
  return pace(program, { path, body, reviews: perRound, connections, ca, host });
}

function compare(what: string, served: readonly Pace[], floor: readonly Pace[]): Figure[] {
  function of(key: keyof Pace): [number[], number[]] {
    return [served.map((pace) => pace[key]), floor.map((pace) => pace[key])];
  }
  function told(key: keyof Pace, unit: string, digits = 0): string {
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
      measured: told('cpuMicros', 'µs'),
    },
    {
      what: `${what}, reviews per second`,
      value: ratio(...of('perSecond')),
      unit: '×',
      measured: `${told('perSecond', '/s')}, p50 ${told('p50', 'ms', 2)}, p99 ${told('p99', 'ms', 2)}`,
    },
  ];
}
