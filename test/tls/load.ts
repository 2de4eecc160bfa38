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
}

export interface Load {
  readonly answered: () => number;
  /** What went wrong, one line each. */
  readonly failures: readonly string[];
  readonly stop: () => Promise<void>;
}

/** More at once would only measure the machine. */
const atOnce = 32;

/** Nobody was there at all: not a matter of trust. */
const absent = new Set(['ECONNREFUSED', 'ECONNRESET', 'EPIPE']);

/** A steady stream of reviews by clients that believe exactly the published bundle. */
export function startLoad({ ports, host, path, body, perSecond, trusted }: LoadOptions): Load {
  const failures: string[] = [];
  const underway = new Set<Promise<void>>();
  const kept = ports.map((port) => ({
    port,
    agent: new https.Agent({ keepAlive: true, maxSockets: 2, ca: trusted() }),
  }));
  let answered = 0;
  let sent = 0;
  let loading = true;

  async function one(): Promise<void> {
    sent += 1;
    const first = Math.floor(sent / 2) % ports.length;
    const order = [...ports.slice(first), ...ports.slice(0, first)];
    for (const port of order) {
      const options = sent % 2 === 0 ? { ca: trusted(), agent: false as const } : keptOptions(port);
      const outcome = await review({ port, host, path, body, options });
      if (outcome === 'ok') {
        answered += 1;
        return;
      }
      if (!absent.has(outcome)) {
        failures.push(`${sent % 2 === 0 ? 'new' : 'kept'} connection to ${port}: ${outcome}`);
        return;
      }
    }
    failures.push('nobody was there');
  }

  function keptOptions(port: number): https.RequestOptions {
    return { agent: kept.find((each) => each.port === port)?.agent };
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
    failures,
    stop: async () => {
      loading = false;
      await running;
      await Promise.all(underway);
      kept.forEach(({ agent }) => agent.destroy());
    },
  };
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
