import { execFile, spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { glob, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { controller } from './coredns.ts';

export interface CoreDns {
  readonly port: number;
  readonly stop: () => Promise<void>;
}

/** On the PATH, else where `npm run real -- build coredns` leaves it. */
export async function findCoreDns(): Promise<string | undefined> {
  const built = await Array.fromAsync(glob(join(homedir(), '.cache/kube-reflex/real-parts/coredns-v*/coredns')));
  for (const program of ['coredns', ...built]) {
    const works = await promisify(execFile)(program, ['-version']).then(
      () => true,
      () => false,
    );
    if (works) {
      return program;
    }
  }
  return undefined;
}

/** Serves the rules of a directory, with an address for the target that the samples lead to. */
export async function startCoreDns(program: string, directory: string): Promise<CoreDns> {
  const port = await freePort();
  const file = join(directory, 'Corefile');
  await writeFile(file, serverText(port, directory));
  const child = spawn(program, ['-conf', file], { stdio: 'ignore' });
  const exited = once(child, 'exit');
  return {
    port,
    stop: async () => {
      child.kill();
      await exited;
    },
  };
}

function serverText(port: number, directory: string): string {
  return `.:${port} {
    bind 127.0.0.1
    reload 2s 1s
    import ${directory}/*.server
    hosts {
        ${controller.spec.clusterIP} ingress-nginx-controller.ingress-nginx.svc.cluster.local
    }
}
`;
}

async function freePort(): Promise<number> {
  const socket = createSocket('udp4').bind(0, '127.0.0.1');
  await once(socket, 'listening');
  const { port } = socket.address();
  socket.close();
  return port;
}
