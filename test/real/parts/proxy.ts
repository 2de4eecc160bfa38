import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** A TCP proxy before one server: counts bytes and makes trouble. */
export interface Proxy extends AsyncDisposable {
  readonly port: number;
  /** Bytes from clients to the server, and back. */
  readonly bytes: () => { readonly sent: number; readonly received: number };
  readonly connections: () => number;
  /** Closes all open connections at once. */
  readonly cut: () => void;
  /** From now on connections are closed as soon as they open. */
  readonly refuse: (on: boolean) => void;
  /** Nothing passes while it is on; nothing is lost either. */
  readonly hang: (on: boolean) => void;
  readonly close: () => Promise<void>;
}

export async function startProxy(targetPort: number): Promise<Proxy> {
  const pairs = new Set<readonly [Socket, Socket]>();
  const count = { sent: 0, received: 0, connections: 0 };
  const mode = { refusing: false, hanging: false };

  const server = createServer((client) => {
    count.connections += 1;
    if (mode.refusing) {
      client.destroy();
      return;
    }
    const upstream = connect(targetPort, '127.0.0.1');
    const pair = [client, upstream] as const;
    pairs.add(pair);
    client.on('data', (chunk) => (count.sent += chunk.length));
    upstream.on('data', (chunk) => (count.received += chunk.length));
    client.pipe(upstream).pipe(client);
    for (const socket of pair) {
      socket.on('error', () => undefined); // either side may be cut; the close ends the other one
      socket.on('close', () => {
        pairs.delete(pair);
        client.destroy();
        upstream.destroy();
      });
    }
    if (mode.hanging) {
      hold(pair);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));

  function cut(): void {
    for (const [client, upstream] of pairs) {
      client.destroy();
      upstream.destroy();
    }
  }
  function close(): Promise<void> {
    return new Promise((resolve) => {
      server.close(() => resolve());
      cut();
    });
  }
  return {
    port: (server.address() as AddressInfo).port,
    bytes: () => ({ sent: count.sent, received: count.received }),
    connections: () => count.connections,
    cut,
    refuse: (on) => {
      mode.refusing = on;
    },
    hang: (on) => {
      mode.hanging = on;
      for (const pair of pairs) {
        (on ? hold : release)(pair);
      }
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

function hold(pair: readonly [Socket, Socket]): void {
  for (const socket of pair) {
    socket.pause();
  }
}

function release(pair: readonly [Socket, Socket]): void {
  for (const socket of pair) {
    socket.resume();
  }
}
