import { once } from 'node:events';
import http, { IncomingMessage, ServerResponse, type Server } from 'node:http';
import { connect, Socket, type AddressInfo } from 'node:net';
import { afterAll, afterEach, describe, expect, it } from '@jest/globals';
import { createBodyReader, TooLarge, type BodyReader, type Receiver } from '../../lib/http/body.ts';

const kibibyte = 1024;
const limit = 700 * kibibyte;
const budget = 1024 * kibibyte;
const opened = new AsyncDisposableStack();

afterEach(() => {
  for (const socket of sockets.splice(0)) {
    socket.destroy();
  }
  accepted.length = 0;
});

afterAll(() => opened.disposeAsync());

describe('the budget of bodies', () => {
  it('is not used up by bodies that are only announced', async () => {
    const port = await listen();
    for (let stalled = 0; stalled < 10; stalled += 1) {
      await begin(port, { announced: limit, sent: kibibyte });
    }

    expect(await post(port, limit)).toBe(200);
  });

  it('is held by a body that stops half-way, but not for long', async () => {
    const patient = await listen();
    await begin(patient, { announced: limit, sent: limit - 1 });
    const strict = await listen({ arrivalMs: 100 });
    const cut = await begin(strict, { announced: limit, sent: limit - 1 });

    expect(await post(patient, limit)).toBe(503);
    await closed(cut);
    expect(await post(strict, limit)).toBe(200);
  });

  it('has a part for small bodies that large ones can’t take', async () => {
    const port = await listen();
    await begin(port, { announced: limit, sent: limit - 1 });
    await begin(port, { announced: limit, sent: 190 * kibibyte });

    expect(await post(port, 50 * kibibyte)).toBe(200);
    expect(await post(port, 300 * kibibyte)).toBe(503);
  });

  it('is not touched by a body that is announced as too large', async () => {
    const port = await listen();

    expect(await post(port, limit + 1)).toBe(413);
  });
});

describe('a body that is cut off is reported as a failure, once', () => {
  it('when it stops half-way', async () => {
    const failures: string[] = [];
    const port = await listen({ arrivalMs: 100, failures });

    await closed(await begin(port, { announced: limit, sent: kibibyte }));

    expect(failures).toEqual(['body took too long to arrive']);
  });

  it('when it never ends', async () => {
    const failures: string[] = [];
    const port = await listen({ failures });
    const announced = 100 * 1024 * kibibyte;

    const socket = await begin(port, { announced, sent: kibibyte });
    socket.write(Buffer.alloc(announced - kibibyte));
    await closed(socket);

    expect(failures).toEqual([`body is larger than ${limit} bytes`]);
  });

  it('when its sender closes the connection', async () => {
    const failures: string[] = [];
    const port = await listen({ failures });

    (await begin(port, { announced: limit, sent: kibibyte })).destroy();
    while (failures.length === 0) {
      await new Promise((resolve) => setImmediate(resolve));
    }

    expect(failures).toEqual(['body ended early']);
  });
});

describe('large bodies take turns', () => {
  it('between two of them, other requests are served', async () => {
    const reader = createBodyReader(budget);
    const order: string[] = [];
    const { promise: done, resolve } = Promise.withResolvers<void>();
    for (const name of ['first', 'second']) {
      receiveLarge(reader, {
        onBody: () => {
          order.push(name);
          setImmediate(() => order.push('others'));
          setImmediate(name === 'second' ? resolve : () => undefined);
        },
        onFailure: (failure) => order.push(failure.message),
      });
    }
    await done;

    expect(order).toEqual(['first', 'others', 'second', 'others']);
  });

  it('and one whose sender has left is not parsed', async () => {
    const { promise: outcome, resolve } = Promise.withResolvers<string>();
    const response = receiveLarge(createBodyReader(budget), {
      onBody: ({ length }) => resolve(`${length} bytes`),
      onFailure: ({ message }) => resolve(message),
    });

    response.destroy();

    expect(await outcome).toBe('the sender closed the connection');
  });
});

/** A large body that arrives at once. */
function receiveLarge(reader: BodyReader, receiver: Omit<Receiver, 'limit'>): ServerResponse {
  const request = new IncomingMessage(new Socket());
  const response = new ServerResponse(request);
  reader.receive(request, response, { limit, ...receiver });
  request.push(Buffer.alloc(400 * kibibyte));
  request.push(null);
  return response;
}

const sockets: Socket[] = [];
const accepted: Socket[] = [];

/** Answers 200 to readable bodies, and collects the failures of others. Returns its port. */
async function listen({
  arrivalMs,
  failures = [],
}: { readonly arrivalMs?: number; readonly failures?: string[] } = {}): Promise<number> {
  const reader = createBodyReader(budget, arrivalMs);
  const server: Server = http.createServer((request, response) => {
    reader.receive(request, response, {
      limit,
      onBody: ({ length }) => response.writeHead(length > 0 ? 200 : 400).end(),
      onFailure: (failure) => {
        failures.push(failure.message);
        response.writeHead(failure instanceof TooLarge ? 413 : 503).end();
      },
    });
  });
  server.on('connection', (socket) => accepted.push(socket));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  opened.defer(() => void server.close());
  return (server.address() as AddressInfo).port;
}

/** Sends a request with an incomplete body; resolves when the server has received that part. */
async function begin(port: number, body: { readonly announced: number; readonly sent: number }): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  sockets.push(socket.resume());
  socket.on('error', () => undefined); // a cut connection may be reset
  await once(socket, 'connect'); // it has no port before
  socket.write(`POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${body.announced}\r\n\r\n`);
  socket.write(Buffer.alloc(body.sent));
  while (!accepted.some(({ remotePort, bytesRead }) => remotePort === socket.localPort && bytesRead > body.sent)) {
    await new Promise((resolve) => setImmediate(resolve));
  }
  return socket;
}

async function closed(socket: Socket): Promise<void> {
  if (!socket.closed) {
    await new Promise((resolve) => socket.once('close', resolve));
  }
}

async function post(port: number, bytes: number): Promise<number> {
  const { status } = await fetch(`http://127.0.0.1:${port}`, { method: 'POST', body: Buffer.alloc(bytes) });
  return status;
}
