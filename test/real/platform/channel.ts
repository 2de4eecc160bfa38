import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { send } from '../../support/http.ts';
import { endToEnd } from '../support/relay.ts';

export interface Channel extends AsyncDisposable {
  readonly url: URL;
}

/**
 * What stands between the doors of a Broker: every event goes to every subscriber at once, and the answer waits for
 * all. Knative's own channel would also retry; it insists on ports that others have.
 */
export async function startChannel(subscribers: readonly URL[]): Promise<Channel> {
  async function pass(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = Buffer.concat((await request.toArray()) as Buffer[]);
    const headers = endToEnd(request.headers);
    const answers = await Promise.all(
      subscribers.map((url) => send(url, { path: url.pathname, headers, body }).catch(() => ({ status: 502 }))),
    );
    const worst = Math.max(...answers.map(({ status }) => status));
    response.writeHead(worst < 300 ? 202 : worst).end();
  }

  const server = createServer((request, response) => void pass(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: new URL(`http://127.0.0.1:${port}`),
    [Symbol.asyncDispose]: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
