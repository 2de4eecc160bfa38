import { once } from 'node:events';
import http, { type ClientRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Running } from '../parts/processes.ts';

/** Where in its life a process dies. */
export interface Death {
  /** Counted from 1. */
  readonly atWrite: number;
  /** Killed as the request arrives, which then goes nowhere, or once it was carried out and before its answer is read. */
  readonly when: 'before' | 'after';
  /** Counts writes to such paths alone. */
  readonly to?: RegExp;
}

/**
 * A way to an API server that kills the process that takes it, as `kill -9` does, at exactly the write that is asked for: the
 * one before or after which nothing else of that process reaches the server. Give `url` to `startFunction` as `server`, then
 * `arm` it with the running process; after the death, start the next process by the same way and arm it anew. Sweeping
 * `atWrite` from 1 until `struck` stays false visits every point at which a function can die between two writes.
 */
export interface KillingProxy extends AsyncDisposable {
  readonly url: string;
  /** Counts writes from 1 again; without a death it only counts. */
  readonly arm: (victim: Victim, death?: Death) => void;
  /** Writes that arrived since it was armed. */
  readonly writes: () => number;
  /** Whether the victim was killed. */
  readonly struck: () => boolean;
}

type Victim = Pick<Running, 'signal' | 'alive'>;

export interface ApiServer {
  readonly url: string;
  /** Of an address with TLS. */
  readonly ca?: string;
}

/** Listens without TLS: the credentials of the process pass on to the server as they are, and never leave the machine. */
export async function startKillingProxy({ url, ca }: ApiServer): Promise<KillingProxy> {
  const agent = url.startsWith('https:')
    ? new https.Agent({ keepAlive: true, ca })
    : new http.Agent({ keepAlive: true });
  let armed: { readonly victim: Victim; readonly death: Death | undefined } | undefined;
  let writes = 0;
  /** From the arrival of its last write on: what it sends beside that one counts as not sent. */
  let isDying = false;
  let struck = false;

  function strike(): void {
    struck = true;
    armed?.victim.signal('SIGKILL');
    server.closeAllConnections();
  }

  /** Counts a write; returns the death that is due at it, if any. */
  function count({ url: path = '' }: IncomingMessage): Death | undefined {
    const death = armed?.death;
    if (death?.to?.test(path) === false) {
      return undefined;
    }
    writes += 1;
    isDying = death?.atWrite === writes;
    return isDying ? death : undefined;
  }

  function pass(request: IncomingMessage, response: ServerResponse): void {
    if (isDying && armed?.victim.alive() === true) {
      request.socket.destroy(); // from the dying process; requests after its end come from the next one
      return;
    }
    const last = armed !== undefined && !isDying && isWrite(request) ? count(request) : undefined;
    if (last?.when === 'before') {
      strike();
      return;
    }
    const onward = forward(request, { url, agent }, (answer) => {
      if (last !== undefined) {
        answer.resume().once('end', strike);
        return;
      }
      response.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(response);
    });
    response.once('close', () => onward.destroy());
  }

  const server = http.createServer(pass).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    arm: (victim, death) => {
      armed = { victim, death };
      writes = 0;
      isDying = false;
      struck = false;
    },
    writes: () => writes,
    struck: () => struck,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      agent.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

interface Way {
  readonly url: string;
  readonly agent: http.Agent;
}

function forward(
  request: IncomingMessage,
  { url, agent }: Way,
  onAnswer: (answer: IncomingMessage) => void,
): ClientRequest {
  const { method, headers, socket } = request;
  const { request: open } = url.startsWith('https:') ? https : http;
  const onward = open(new URL(request.url ?? '/', url), { method, headers, agent }, onAnswer);
  onward.once('error', () => socket.destroy());
  return request.pipe(onward);
}

/** Reviews are sent like objects, but nothing is kept of them. */
function isWrite({ method, url = '' }: IncomingMessage): boolean {
  return (
    method !== 'GET' &&
    !url.startsWith('/apis/authorization.k8s.io/') &&
    !url.startsWith('/apis/authentication.k8s.io/')
  );
}
