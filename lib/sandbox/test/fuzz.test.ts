import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Agent, request } from 'node:http';
import { type Sandbox, startSandbox } from '../sandbox.ts';
import { long } from '../../../test/support/long.ts';
import { anyRequest, type Sent } from './requests.ts';

const requests = long(10_000, 2_000);
const atOnce = 20;

interface Reply {
  readonly code: number;
  readonly type: string;
  readonly text: string;
}

let sandbox: Sandbox;
const agent = new Agent({ keepAlive: true, maxSockets: atOnce });

beforeAll(async () => {
  sandbox = await startSandbox({ controllers: false });
});

afterAll(async () => {
  agent.destroy();
  await sandbox.close();
});

function send({ method, path, headers, body }: Sent): Promise<Reply> {
  const { promise, resolve, reject } = Promise.withResolvers<Reply>();
  const { port } = new URL(sandbox.httpUrl);
  const outgoing = request({ host: '127.0.0.1', port, agent, method, path, headers }, (incoming) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('error', reject);
    incoming.on('end', () =>
      resolve({
        code: incoming.statusCode ?? 0,
        type: incoming.headers['content-type'] ?? '',
        text: Buffer.concat(chunks).toString(),
      }),
    );
  });
  outgoing.on('error', reject);
  outgoing.end(body);
  return promise;
}

/** What the real API server answers with 500 as well: an apply that does not fit the schema. */
function isUntypedApply({ code, text }: Reply): boolean {
  return code === 500 && text.includes('failed to create typed patch object');
}

function complaint(sent: Sent, reply: Reply): string | undefined {
  const isBroken =
    reply.code < 200 || (reply.code >= 500 && ![501, 504].includes(reply.code) && !isUntypedApply(reply));
  if (!isBroken && (reply.code < 400 || isProperRefusal(sent, reply))) {
    return undefined;
  }
  const what = `${sent.method} ${sent.path} [${sent.headers['content-type'] ?? ''}] ${sent.body}`;
  return `${what}\n  → ${reply.code} ${reply.type} ${reply.text.slice(0, 300)}`;
}

/** Refusals carry a Status; only paths outside the API are refused in plain text. */
function isProperRefusal({ method }: Sent, { code, type, text }: Reply): boolean {
  if (method === 'HEAD' || (code === 404 && text === '404 page not found\n')) {
    return true;
  }
  return type === 'application/json' && (JSON.parse(text) as { kind?: string }).kind === 'Status';
}

describe('bad input', () => {
  it(`answers ${requests} generated requests soundly and lives on`, async () => {
    const all = fc.sample(anyRequest, { numRuns: requests, seed: 20_261_116 });
    const complaints: string[] = [];
    const codes = new Map<number, number>();

    for (let index = 0; index < all.length; index += atOnce) {
      const batch = all.slice(index, index + atOnce);
      const replies = await Promise.all(batch.map(send));
      for (const [position, reply] of replies.entries()) {
        const sent = batch[position];
        codes.set(reply.code, (codes.get(reply.code) ?? 0) + 1);
        complaints.push(...(sent === undefined ? [] : [complaint(sent, reply)]).filter((text) => text !== undefined));
      }
    }

    expect(complaints.slice(0, 5)).toEqual([]);
    expect([...codes.keys()]).toEqual(expect.arrayContaining([200, 201, 400, 404, 405, 406, 409, 415, 422]));
    expect((await send({ method: 'GET', path: '/readyz', headers: {}, body: '' })).text).toBe('ok');
  });

  it('refuses a body beyond 3 MiB and serves the next request', async () => {
    const path = '/api/v1/namespaces/default/configmaps';
    const headers = { 'content-type': 'application/json' };

    const refused = await send({ method: 'POST', path, headers, body: ' '.repeat(3 * 1024 * 1024 + 1) });

    expect(refused.code).toBe(413);
    expect(JSON.parse(refused.text)).toMatchObject({ kind: 'Status', reason: 'RequestEntityTooLarge' });
    expect((await send({ method: 'GET', path, headers: {}, body: '' })).code).toBe(200);
  });
});
