import { createServer, type Server } from 'node:net';

/** A run of consecutive ports that no other run uses while this one holds them. */
export interface Ports {
  readonly base: number;
  release(): Promise<void>;
}

const first = 22_000;
/** The kernel hands out 32768 and above to outgoing connections. */
const end = 32_700;
export const portsPerRun = 100;

/** Whoever listens on the last port of a block owns the block: the kernel lets go of it however a run ends. */
export async function reservePorts(): Promise<Ports> {
  const blocks = (end - first) / portsPerRun;
  const start = process.pid % blocks;
  for (let step = 0; step < blocks; step += 1) {
    const base = first + ((start + step) % blocks) * portsPerRun;
    const owner = await listen(base + portsPerRun - 1);
    if (owner !== undefined && (await allFree(base))) {
      owner.unref();
      return { base, release: () => closed(owner) };
    }
    if (owner !== undefined) {
      await closed(owner);
    }
  }
  throw new Error(`reserve ports: all of ${String(first)}-${String(end)} are in use`);
}

async function allFree(base: number): Promise<boolean> {
  for (let port = base; port < base + 60; port += 1) {
    const server = await listen(port);
    if (server === undefined) {
      return false;
    }
    await closed(server);
  }
  return true;
}

function listen(port: number): Promise<Server | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(undefined));
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => resolve(server));
  });
}

function closed(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
  });
}
