import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Access } from '../../lib/kube/access.ts';
import type { Sandbox } from '../../lib/sandbox/sandbox.ts';

/** A way to the API that ends at a given write, as for a process that is killed there: nothing of it arrives after that. */
export interface Mortal {
  readonly access: Access;
  /** Writes that arrived. */
  readonly writes: () => number;
  readonly dead: () => boolean;
  readonly close: () => void;
}

export interface Death {
  /** Counted from 1. */
  readonly atWrite: number;
  /** Killed as the request leaves, or when it was carried out and before its answer is read. */
  readonly when: 'before' | 'after';
}

export async function mortalAccess({ httpUrl }: Sandbox, death?: Death): Promise<Mortal> {
  let writes = 0;
  let dead = false;
  const server = http.createServer((request, response) => {
    const isWrite = request.method !== 'GET';
    writes += Number(isWrite && !dead);
    const last = isWrite && death?.atWrite === writes;
    if (dead || (last && death.when === 'before')) {
      dead = true;
      request.socket.destroy();
      return;
    }
    const { method, headers, url = '/' } = request;
    const onward = http.request(new URL(url, httpUrl), { method, headers }, (answer) => {
      if (last) {
        dead = true;
        answer.resume();
        answer.once('end', () => request.socket.destroy());
        return;
      }
      response.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(response);
    });
    onward.once('error', () => request.socket.destroy());
    request.pipe(onward);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    access: () => Promise.resolve({ server: new URL(`http://127.0.0.1:${port}`), tls: {}, headers: {} }),
    writes: () => writes,
    dead: () => dead,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
