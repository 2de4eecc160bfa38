import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

/** Outside of the ports that systems give away by themselves. */
export const forwardedPort = 21_017;

/** Passes on to another port of this machine what arrives at the one that never changes. */
export async function forward(port: number): Promise<AsyncDisposable> {
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(port, '127.0.0.1');
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(one);
      one.on('error', () => other.destroy());
      one.on('close', () => sockets.delete(one));
      one.pipe(other);
    }
  });
  await listenWhenFree(server);
  return {
    [Symbol.asyncDispose]: async () => {
      sockets.forEach((socket) => socket.destroy());
      server.close();
      await once(server, 'close');
    },
  };
}

/** Another run of the same tests on this machine may have the port for a while. */
async function listenWhenFree(server: Server): Promise<void> {
  for (;;) {
    try {
      server.listen(forwardedPort, '127.0.0.1');
      await once(server, 'listening');
      return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') {
        throw error;
      }
      await pause(200);
    }
  }
}
