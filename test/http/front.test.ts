import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import tls from 'node:tls';
import { describe, expect, it } from '@jest/globals';
import { mintAuthority, mintPair } from '../tls/mint.ts';
import { openFront, type Front } from '../../lib/http/front.ts';

const host = 'gate.svc';

describe('closing a port that speaks TLS', () => {
  it('does not wait for a connection whose handshake never ends', async () => {
    const { front, socket } = await openWithConnection(200);

    const ms = await closing(front);

    expect(ms).toBeLessThan(10_000);
    expect(socket.destroyed || (await once(socket, 'close')).length > 0).toBe(true);
  });

  it('does not wait for a connection whose handshake ends late and that sends nothing', async () => {
    const { front, socket } = await openWithConnection(60_000);
    const closed = closing(front);

    await pause(1_200); // connections that were silent before are cut by now
    const late = tls.connect({ socket, servername: host, rejectUnauthorized: false }).resume();
    await once(late, 'secureConnect');

    expect(await closed).toBeLessThan(10_000);
  });
});

async function openWithConnection(closingMs: number): Promise<{ readonly front: Front; readonly socket: Socket }> {
  const now = new Date();
  const { cert, key } = await mintPair(await mintAuthority(now), { now, host });
  const front = await openFront({ port: 0, tls: { cert, key }, answer: () => undefined, closingMs });
  const place = { port: Number(front.url.port), host: front.url.hostname };
  const socket = connect(place).resume();
  await once(socket, 'connect');
  // Connections are accepted in order.
  const second = tls.connect({ ...place, servername: host, rejectUnauthorized: false });
  await once(second, 'secureConnect');
  second.destroy();
  return { front, socket };
}

async function closing(front: Front): Promise<number> {
  const began = performance.now();
  await front.close();
  return performance.now() - began;
}
