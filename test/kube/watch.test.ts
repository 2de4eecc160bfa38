import http, { type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { configMaps } from '../../lib/kube/model/resource.ts';
import { createTransport } from '../../lib/kube/transport.ts';
import { watch, type WatchEvent } from '../../lib/kube/watch.ts';

const closers: (() => void)[] = [];

afterEach(() => {
  for (const close of closers.splice(0)) {
    close();
  }
});

describe('a watch', () => {
  it('yields events regardless of chunks, until the server ends it', async () => {
    const text = `${line('ADDED', 'ä')}${line('BOOKMARK', 'b')}`;
    const seen = await collectFrom((response) => {
      for (const byte of Buffer.from(text)) {
        response.write(Buffer.from([byte]));
      }
      response.end();
    });

    expect(seen.map(({ type, object }) => [type, object.metadata?.name])).toEqual([
      ['ADDED', 'ä'],
      ['BOOKMARK', 'b'],
    ]);
  });

  it.each([
    [
      'an expired version in the stream',
      (response) => response.end(`${JSON.stringify({ type: 'ERROR', object: { code: 410, reason: 'Expired' } })}\n`),
      { code: 410 },
    ],
    ['an expired version at once', (response) => response.writeHead(410).end('{"reason":"Expired"}'), { code: 410 }],
    [
      'a connection that breaks in the middle of a line',
      (response) => response.write('{"type":', () => response.destroy()),
      { kind: 'unavailable' },
    ],
    [
      'a connection that goes silent',
      (response) => response.write(line('ADDED', 'a')),
      { kind: 'unavailable', message: 'could not watch configmaps: the connection went silent' },
    ],
  ] satisfies [string, (response: ServerResponse) => unknown, object][])(
    'fails on %s',
    async (_what, script, failure) => {
      await expect(collectFrom(script)).rejects.toMatchObject(failure);
    },
  );

  it('gives up on a server that never answers', async () => {
    await expect(collectFrom(() => undefined, 50)).rejects.toMatchObject({
      kind: 'unavailable',
      message: 'could not GET /api/v1/configmaps: no answer in time',
    });
  });
});

function line(type: string, name: string): string {
  return `${JSON.stringify({ type, object: { metadata: { name } } })}\n`;
}

async function collectFrom(script: (response: ServerResponse) => unknown, deadlineMs = 30_000): Promise<WatchEvent[]> {
  const server = http.createServer((_request, response) => script(response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const reach = { server: new URL(`http://127.0.0.1:${port}`), tls: {}, headers: {} };
  const transport = createTransport(() => Promise.resolve(reach), { deadlineMs });
  closers.push(() => {
    transport.close();
    server.closeAllConnections();
    server.close();
  });
  const { signal } = new AbortController();
  return Array.fromAsync(watch(configMaps, { transport, signal, resourceVersion: '1', silenceMs: 200 }));
}
