import https from 'node:https';
import { setTimeout as pause } from 'node:timers/promises';

/**
 * The state of an endpoint of a Service. One that is `dying` still gets requests: it is about to be killed, or it was
 * killed and that is not noticed yet. One that is `away` gets none.
 */
export type Endpoint = 'ready' | 'dying' | 'away';

export interface LoadOptions {
  readonly ports: readonly number[];
  readonly host: string;
  readonly path: string;
  readonly body: string;
  /** The limit of requests per second, half of them over new connections; a slow machine sends fewer. */
  readonly perSecond: number;
  /** PEM: what clients trust at this moment. */
  readonly trusted: () => string;
  /** Default: all are ready. */
  readonly endpoint?: (port: number) => Endpoint;
}

export interface Load {
  readonly answered: () => number;
  /** Requests that were lost with a killed process. Each was sent again to another one, so it was answered, too. */
  readonly lost: () => number;
  /** Every other request without an answer, one line each. */
  readonly failures: readonly string[];
  /** The requests per second that were actually sent. */
  readonly pace: () => number;
  readonly stop: () => Promise<void>;
}

/** A higher concurrency would only measure the machine. */
export const atOnce = 32;

/** The process is gone: no answer, but no certificate error either. */
const gone = new Set(['ECONNREFUSED', 'ECONNRESET', 'EPIPE']);

/** A steady stream of reviews from clients that trust exactly the published bundle. */
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

  /** If a process does not listen any more, the Service uses another one, and clients repeat unanswered requests. */
  async function one(): Promise<void> {
    const own = (sent += 1);
    const fresh = own % 2 === 0;
    const tried = new Set<number>();
    for (;;) {
      const reachable = ports.filter((port) => endpoint(port) !== 'away' && !tried.has(port));
      const port = reachable[Math.floor(own / 2) % reachable.length];
      if (port === undefined) {
        failures.push('no replica could answer');
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

/** Keeps its connections when the bundle changes; a new connection trusts the bundle of that moment. */
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
