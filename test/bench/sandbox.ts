import { Agent, request } from 'node:http';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { type Sandbox, startSandbox } from '../../lib/sandbox/sandbox.ts';
import { type Figure, median, ratio } from './measure/figure.ts';
import { inTurns } from './measure/turns.ts';

export const about = 'the sandbox with 1,000, 10,000 and 20,000 Ingresses: time per object must stay flat';

const sizes = [1000, 10_000, 20_000] as const;
const ingresses = '/apis/networking.k8s.io/v1/namespaces/bench/ingresses';
const watchers = 10;
const changes = 200;
const atOnce = 8;
const flat = { atMost: 1.5 };

/** A sandbox that holds a number of objects, with the memory that they took. */
interface Filled {
  readonly sandbox: Sandbox;
  readonly size: number;
  readonly bytes: number;
  readonly agent: Agent;
}

export async function run(): Promise<readonly Figure[]> {
  const filled: Filled[] = [];
  for (const size of sizes) {
    filled.push(await fill(size));
  }
  try {
    return [
      ...(await compare('list', filled, listMicros, 7)),
      ...(await compare('write', filled, writeMicros, 5)),
      ...(await compare(`watch, ${watchers} clients`, filled, fanOutMicros, 5)),
      ...memory(filled),
    ];
  } finally {
    for (const { sandbox, agent } of filled) {
      agent.destroy();
      await sandbox.close();
    }
  }
}

async function compare(
  what: string,
  filled: readonly Filled[],
  measure: (filled: Filled) => Promise<number>,
  rounds: number,
): Promise<Figure[]> {
  const turns = Object.fromEntries(filled.map((each) => [String(each.size), () => measure(each)]));
  const micros = await inTurns(turns, { rounds, warmUp: 2 });
  const base = micros[String(sizes[0])] ?? [];
  return sizes.slice(1).map((size) => {
    const values = micros[String(size)] ?? [];
    const measured = `${median(values).toFixed(1)} µs at ${size}, ${median(base).toFixed(1)} µs at ${sizes[0]}`;
    return {
      what: `${what}: per object at ${size} against ${sizes[0]}`,
      value: ratio(values, base),
      unit: '×',
      bar: flat,
      measured,
    };
  });
}

function memory(filled: readonly Filled[]): Figure[] {
  const [base, ...others] = filled.map(({ bytes, size }) => ({ size, each: bytes / size }));
  return others.map(({ size, each }) => ({
    what: `memory: per object at ${size} against ${sizes[0]}`,
    value: each / (base?.each ?? Number.NaN),
    unit: '×',
    bar: flat,
    measured: `${(each / 1024).toFixed(1)} KB at ${size}, ${((base?.each ?? 0) / 1024).toFixed(1)} KB at ${sizes[0]}`,
  }));
}

async function fill(size: number): Promise<Filled> {
  const sandbox = await startSandbox({ controllers: false });
  const agent = new Agent({ keepAlive: true, maxSockets: atOnce });
  await sandbox.api.create({ group: '', plural: 'namespaces' }, { metadata: { name: 'bench' } });
  const before = heapBytes();
  await inParallel(size, (index) => exchange({ sandbox, agent }, 'POST', ingresses, ingress(`i${index}`)));
  await exchange({ sandbox, agent }, 'GET', ingresses);
  return { sandbox, size, agent, bytes: heapBytes() - before };
}

function ingress(name: string): object {
  const backend = { service: { name: 'web', port: { number: 80 } } };
  return {
    metadata: { name, labels: { app: name, team: 'bench' }, annotations: { note: 'an annotation of some length' } },
    spec: {
      ingressClassName: 'public',
      rules: [{ host: `${name}.example.test`, http: { paths: [{ path: '/', pathType: 'Prefix', backend }] } }],
    },
  };
}

async function listMicros(filled: Filled): Promise<number> {
  const started = performance.now();
  await exchange(filled, 'GET', ingresses);
  return ((performance.now() - started) * 1000) / filled.size;
}

async function writeMicros(filled: Filled): Promise<number> {
  const started = performance.now();
  await inParallel(changes, (index) => exchange(filled, 'POST', ingresses, ingress(`new${index}`)));
  await inParallel(changes, (index) => exchange(filled, 'DELETE', `${ingresses}/new${index}`));
  return ((performance.now() - started) * 1000) / (2 * changes);
}

/** From the first change until every client has seen the last one. */
async function fanOutMicros(filled: Filled): Promise<number> {
  const streams = await Promise.all(Array.from({ length: watchers }, () => openWatch(filled)));
  const started = performance.now();
  await inParallel(changes, (index) => exchange(filled, 'PUT', `${ingresses}/i${index}`, relabelled(index)));
  await Promise.all(streams.map(({ seen }) => seen));
  const micros = ((performance.now() - started) * 1000) / changes;
  streams.forEach((stream) => stream.close());
  return micros;
}

let turn = 0;

function relabelled(index: number): object {
  turn += 1;
  return { ...ingress(`i${index}`), metadata: { name: `i${index}`, labels: { turn: String(turn) } } };
}

interface Stream {
  /** Resolves when as many lines came as changes are made. */
  readonly seen: Promise<undefined>;
  close(): void;
}

async function openWatch({ sandbox }: Filled): Promise<Stream> {
  const revision = sandbox.api.list({ group: 'networking.k8s.io', plural: 'ingresses' }).reduce(newest, 0);
  const { promise: seen, resolve } = Promise.withResolvers<undefined>();
  const { promise: opened, resolve: open } = Promise.withResolvers<undefined>();
  const outgoing = request(`${sandbox.httpUrl}${ingresses}?watch=1&resourceVersion=${revision}`, (incoming) => {
    let lines = 0;
    open(undefined);
    incoming.on('data', (chunk: Buffer) => {
      lines += chunk.reduce((sum, byte) => sum + Number(byte === 10), 0);
      if (lines >= changes) {
        resolve(undefined);
      }
    });
    incoming.on('error', () => undefined);
  });
  outgoing.end();
  await opened;
  return { seen, close: () => outgoing.destroy() };
}

function newest(revision: number, { metadata }: { metadata?: { resourceVersion?: string } }): number {
  return Math.max(revision, Number(metadata?.resourceVersion ?? 0));
}

function exchange(
  { sandbox, agent }: Pick<Filled, 'sandbox' | 'agent'>,
  method: string,
  path: string,
  body?: object,
): Promise<undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<undefined>();
  const headers = { 'content-type': 'application/json' };
  const outgoing = request(`${sandbox.httpUrl}${path}`, { method, agent, headers }, (incoming) => {
    incoming.resume();
    incoming.on('error', reject);
    incoming.on('end', () => {
      if ((incoming.statusCode ?? 500) < 300) {
        resolve(undefined);
      } else {
        reject(new Error(`${method} ${path}: ${incoming.statusCode ?? 0}`));
      }
    });
  });
  outgoing.on('error', reject);
  outgoing.end(body === undefined ? '' : JSON.stringify(body));
  return promise;
}

async function inParallel(count: number, work: (index: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  async function worker(): Promise<void> {
    while (next < count) {
      next += 1;
      await work(next - 1);
    }
  }
  await Promise.all(Array.from({ length: atOnce }, worker));
}

function heapBytes(): number {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  collect();
  collect();
  return process.memoryUsage().heapUsed;
}
