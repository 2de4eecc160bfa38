import https from 'node:https';
import { setTimeout as pause } from 'node:timers/promises';

/** Where requests go; a client that finds nobody at one address tries the next. */
export interface LoadOptions {
  readonly ports: readonly number[];
  readonly host: string;
  readonly path: string;
  readonly body: string;
  /** At most so many requests per second, every second of them over a new connection; fewer on a machine that is slow. */
  readonly perSecond: number;
  /** PEM: what a client trusts at this moment. */
  readonly trusted: () => string;
  /** Where a Service would send requests. Default: all ports. */
  readonly isReady?: (port: number) => boolean;
}

export interface Load {
  readonly answered: () => number;
  /** Requests whose connections broke off or could not be made, wherever they were tried. */
  readonly unanswered: () => number;
  /** What went wrong with those who were there, one line each. */
  readonly failures: readonly string[];
  readonly stop: () => Promise<void>;
}

/** More at once would only measure the machine. */
const atOnce = 32;

/** Nobody was there at all: not a matter of trust. */
const absent = new Set(['ECONNREFUSED', 'ECONNRESET', 'EPIPE']);

/** A steady stream of reviews by clients that believe exactly the published bundle. */
export function startLoad(options: LoadOptions): Load {
  const { ports, host, path, body, perSecond, trusted, isReady = () => true } = options;
  const failures: string[] = [];
  const underway = new Set<Promise<void>>();
  const kept = new Map(ports.map((port) => [port, keepingAgent(trusted)]));
  let answered = 0;
  let unanswered = 0;
  let sent = 0;
  let loading = true;

  async function one(): Promise<void> {
    const own = (sent += 1);
    const fresh = own % 2 === 0;
    const ready = ports.filter(isReady);
    const first = Math.floor(own / 2) % ready.length;
    for (const port of [...ready.slice(first), ...ready.slice(0, first)]) {
      const options = fresh ? { ca: trusted(), agent: false as const } : { agent: kept.get(port) };
      const outcome = await review({ port, host, path, body, options });
      if (outcome === 'ok') {
        answered += 1;
        return;
      }
      if (!absent.has(outcome)) {
        failures.push(`${fresh ? 'new' : 'kept'} connection to ${port}: ${outcome}`);
        return;
      }
    }
    unanswered += 1;
  }

  async function run(): Promise<void> {
    const began = performance.now();
    for (let planned = 0; loading; planned += 1) {
      const early = began + (planned * 1000) / perSecond - performance.now();
      if (early > 0) {
        await pause(early);
      }
      while (underway.size >= atOnce) {
        await Promise.race(underway);
      }
      const done = one().finally(() => underway.delete(done));
      underway.add(done);
    }
  }

  const running = run();
  return {
    answered: () => answered,
    unanswered: () => unanswered,
    failures,
    stop: async () => {
      loading = false;
      await running;
      await Promise.all(underway);
      kept.forEach((agent) => agent.destroy());
    },
  };
}

/** Keeps its connections whatever happens to the bundle; one that has to be made anew believes the bundle of then. */
function keepingAgent(trusted: () => string): https.Agent {
  const agent = new https.Agent({ keepAlive: true, maxSockets: 2 });
  const connect = agent.createConnection.bind(agent);
  agent.createConnection = (options, ...rest) => connect({ ...options, ca: trusted() }, ...rest);
  return agent;
}

interface Question {
  readonly port: number;
  readonly host: string;
  readonly path: string;
  readonly body: string;
  readonly options: https.RequestOptions;
}

/** `ok`, or what went wrong. */
function review({ port, host, path, body, options }: Question): Promise<string> {
  return new Promise((resolve) => {
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
    const request = https.request(
      { host: '127.0.0.1', port, servername: host, path, method: 'POST', headers, ...options },
      (response) => {
        response.resume();
        response.once('end', () => resolve(response.statusCode === 200 ? 'ok' : `HTTP ${response.statusCode ?? 0}`));
        response.once('error', ({ message }) => resolve(message));
      },
    );
    request.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    request.end(body);
  });
}
