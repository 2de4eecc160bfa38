import https from 'node:https';
import { setTimeout as pause } from 'node:timers/promises';

/**
 * What a Service knows of an endpoint. One that is `dying` still gets requests: it is about to be killed, or was and
 * nobody has noticed. One that is `away` gets none.
 */
export type Endpoint = 'ready' | 'dying' | 'away';

export interface LoadOptions {
  readonly ports: readonly number[];
  readonly host: string;
  readonly path: string;
  readonly body: string;
  /** At most so many requests per second, every second of them over a new connection; fewer on a machine that is slow. */
  readonly perSecond: number;
  /** PEM: what a client trusts at this moment. */
  readonly trusted: () => string;
  /** Default: all are ready. */
  readonly endpoint?: (port: number) => Endpoint;
}

export interface Load {
  readonly answered: () => number;
  /** Requests that went down with a process that was killed. Each was sent again elsewhere, so it is answered too. */
  readonly lost: () => number;
  /** Every other request without an answer, one line each. */
  readonly failures: readonly string[];
  /** Requests per second that were really sent. */
  readonly pace: () => number;
  readonly stop: () => Promise<void>;
}

/** More at once would only measure the machine. */
export const atOnce = 32;

/** The other side is gone: no answer, but no refusal of the certificate either. */
const gone = new Set(['ECONNREFUSED', 'ECONNRESET', 'EPIPE']);

/** A steady stream of reviews by clients that believe exactly the published bundle. */
export function startLoad(options: LoadOptions): Load {
  const { ports, host, path, body, perSecond, trusted, endpoint = () => 'ready' } = options;
  const failures: string[] = [];
  const underway = new Set<Promise<void>>();
  const kept = new Map(ports.map((port) => [port, keepingAgent(trusted)]));
  const began = performance.now();
  let answered = 0;
  let lost = 0;
  let sent = 0;
  let loading = true;

  function ask(port: number, fresh: boolean): Promise<string> {
    const connection = fresh ? { ca: trusted(), agent: false as const } : { agent: kept.get(port) };
    return review({ port, host, path, body, options: connection });
  }

  /** Where nobody listens any more a Service leads elsewhere. An answer that will never come, the caller asks for again. */
  async function one(): Promise<void> {
    const own = (sent += 1);
    const fresh = own % 2 === 0;
    const tried = new Set<number>();
    for (;;) {
      const reachable = ports.filter((port) => endpoint(port) !== 'away' && !tried.has(port));
      const port = reachable[Math.floor(own / 2) % reachable.length];
      if (port === undefined) {
        failures.push('nobody was there to answer');
        return;
      }
      const outcome = await ask(port, fresh);
      if (outcome === 'ok') {
        answered += 1;
        return;
      }
      if (!gone.has(outcome) || endpoint(port) === 'ready') {
        failures.push(`${fresh ? 'new' : 'kept'} connection to ${port}: ${outcome}`);
        return;
      }
      lost += outcome === 'ECONNREFUSED' ? 0 : 1;
      tried.add(port);
    }
  }

  async function run(): Promise<void> {
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
    lost: () => lost,
    failures,
    pace: () => (sent * 1000) / (performance.now() - began),
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
