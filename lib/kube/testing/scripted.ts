import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach } from '@jest/globals';
import { pino } from 'pino';
import { createKube, type Call, type Kube, type KubeOptions } from '../client.ts';
import { createTransport, type Transport } from '../transport.ts';

export type Script = (request: IncomingMessage & { body: string }, response: ServerResponse) => unknown;

const closers: (() => void)[] = [];

afterEach(() => {
  for (const close of closers.splice(0)) {
    close();
  }
});

interface Options extends Partial<Pick<KubeOptions, 'dryRun' | 'signal' | 'log'>> {
  readonly deadlineMs?: number;
  readonly token?: (asked: number) => string;
  /** What is put around the transport. */
  readonly around?: (transport: Transport) => Transport;
}

/** A client of a test server that answers by the script. */
export async function cluster(
  script: Script,
  { deadlineMs = 5_000, token, around = (same) => same, ...options }: Options = {},
): Promise<{ kube: Kube; calls: Call[] }> {
  const server = http.createServer((request, response) => {
    void request.toArray().then((chunks) => {
      script(Object.assign(request, { body: Buffer.concat(chunks as Buffer[]).toString() }), response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  let asked = 0;
  const transport: Transport = createTransport(
    () => {
      asked += 1;
      const headers = token === undefined ? {} : { authorization: token(asked) };
      return Promise.resolve({ server: new URL(`http://127.0.0.1:${port}`), tls: {}, headers });
    },
    { deadlineMs },
  );
  closers.push(() => {
    transport.close();
    server.closeAllConnections();
    server.close();
  });
  const calls: Call[] = [];
  const kube = createKube({
    transport: around(transport),
    fieldManager: 'kube-reflex.dev/test',
    log: pino({ level: 'silent' }),
    now: () => new Date(0),
    observe: (call) => calls.push(call),
    ...options,
  });
  return { kube, calls };
}

export function json(response: ServerResponse, code: number, body: unknown): ServerResponse {
  return response.writeHead(code, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

export function status(response: ServerResponse, code: number, reason: string): ServerResponse {
  return json(response, code, { kind: 'Status', apiVersion: 'v1', status: 'Failure', reason, code, message: reason });
}
