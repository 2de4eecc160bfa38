import { once } from 'node:events';
import { renameSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';

/** Which port of this machine stands for an address of the cluster, such as `10.96.0.7:443` or `web.shop.svc:80`. */
export type Routes = Readonly<Record<string, number>>;

/** What kube-proxy, the cluster's DNS and its wires do elsewhere. */
export interface Network extends AsyncDisposable {
  /** The flags by which an API server sends through here what it sends to pods and Services. */
  readonly flags: readonly string[];
  /** Where processes read the routes. */
  readonly file: string;
  readonly route: (routes: Routes) => void;
}

export async function openNetwork(directory: string): Promise<Network> {
  const [socket, selection, file] = ['network.sock', 'egress.json', 'routes.json'].map((name) => join(directory, name));
  let current = '';
  let routes: Routes = {};
  const server = createServer();
  const open = new Set<Duplex>();
  server.on('connect', ({ url = '' }: IncomingMessage, client: Duplex) => {
    open.add(client);
    client.on('close', () => open.delete(client));
    passOn(client, routes[url]);
  });
  await once(server.listen(socket), 'listening');
  writeFileSync(selection ?? '', JSON.stringify(throughSocket(socket ?? '')));

  function route(next: Routes): void {
    const text = JSON.stringify(next);
    if (text !== current) {
      [current, routes] = [text, next];
      writeFileSync(`${file ?? ''}.new`, text);
      renameSync(`${file ?? ''}.new`, file ?? '');
    }
  }
  route({});
  return {
    flags: ['--egress-selector-config-file', selection ?? ''],
    file: file ?? '',
    route,
    async [Symbol.asyncDispose]() {
      open.forEach((client) => client.destroy());
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function passOn(client: Duplex, port: number | undefined): void {
  client.on('error', () => undefined); // either side may go first; the close ends the other one
  if (port === undefined) {
    client.end('HTTP/1.1 502 Bad Gateway\r\n\r\n');
    return;
  }
  const upstream = connect(port, '127.0.0.1', () => {
    client.write('HTTP/1.1 200 Connection established\r\n\r\n');
    client.pipe(upstream).pipe(client);
  });
  upstream.on('error', () => client.destroy());
  upstream.on('close', () => client.destroy());
  client.on('close', () => upstream.destroy());
}

function throughSocket(udsName: string): object {
  return {
    apiVersion: 'apiserver.k8s.io/v1beta1',
    kind: 'EgressSelectorConfiguration',
    egressSelections: [
      { name: 'cluster', connection: { proxyProtocol: 'HTTPConnect', transport: { uds: { udsName } } } },
    ],
  };
}
