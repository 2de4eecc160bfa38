import { afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { execFile } from 'node:child_process';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createCertificates, type Certificates } from '../../lib/sandbox/http/certificates.ts';
import { until } from '../../lib/source/testing/until.ts';
import { createWebhookClient, type WebhookClient, type WebhookTarget } from '../../lib/webhook-client/call.ts';
import { createEndpoint } from '../../lib/webhook-client/endpoint.ts';
import { reviewOf, type AdmissionReview } from '../../lib/kube/model/review.ts';
import {
  serveWebhook,
  type Arrived,
  type ServerOptions,
  type WebhookServer,
} from '../../lib/webhook-client/testing/webhook-server.ts';

let certificates: Certificates;
const opened: { close(): unknown }[] = [];

beforeAll(async () => {
  certificates = await createCertificates(new Date());
});

afterEach(async () => {
  for (const each of opened.splice(0).reverse()) {
    await each.close();
  }
});

interface Scene {
  readonly server: WebhookServer;
  readonly client: WebhookClient;
  readonly target: WebhookTarget;
  readonly call: (text?: string, timeoutMs?: number) => Promise<AdmissionReview>;
}

async function open(
  options: Pick<ServerOptions, 'protocol' | 'maxConcurrent'>,
  serve: (request: Arrived, count: number) => unknown = echo,
): Promise<Scene> {
  let count = 0;
  const server = await serveWebhook({ ...certificates, ...options }, (request) => serve(request, (count += 1)));
  const client = createWebhookClient();
  opened.push(server, client);
  const target = { url: `https://127.0.0.1:${server.port}/`, ca: certificates.ca };
  return {
    server,
    client,
    target,
    call: (text = '', timeoutMs = 10_000) => client.call(target, questionWith(text), { timeoutMs }),
  };
}

function questionWith(text: string): AdmissionReview {
  return reviewOf({
    uid: text,
    kind: { group: '', version: 'v1', kind: 'Pod' },
    resource: { group: '', version: 'v1', resource: 'pods' },
    operation: 'CREATE',
    userInfo: {},
    object: {},
    oldObject: null,
    options: null,
  });
}

function echo({ body, reply }: Arrived): void {
  const { request } = JSON.parse(body) as AdmissionReview;
  reply(200, JSON.stringify({ response: { uid: request?.uid ?? '', allowed: true } }));
}

const eight = ['1', '2', '3', '4', '5', '6', '7', '8'];

function outcomes(calls: readonly Promise<AdmissionReview>[]): Promise<readonly string[]> {
  return Promise.all(
    calls.map((call) =>
      call.then(
        ({ response }) => response?.uid ?? '',
        (error: unknown) => (error as { message: string }).message.replace(/^Post "[^"]*": /, ''),
      ),
    ),
  );
}

/** Answers when this number of requests has arrived. */
function together(size: number): (request: Arrived) => void {
  const waiting: Arrived[] = [];
  return (request) => {
    waiting.push(request);
    if (waiting.length === size) {
      waiting.splice(0).forEach(echo);
    }
  };
}

describe('calls at the same time', () => {
  it.each([
    { protocol: 'h2', handshakes: 1 },
    { protocol: 'http/1.1', handshakes: 8 },
  ] as const)('take $handshakes connections to a webhook that speaks $protocol', async ({ protocol, handshakes }) => {
    const { server, call } = await open({ protocol }, together(8));

    expect(await outcomes(eight.map((text) => call(text)))).toEqual(eight);
    expect(await outcomes(eight.map((text) => call(text)))).toEqual(eight);

    expect(server.handshakes()).toBe(handshakes);
  });

  it('wait for each other if the webhook accepts one at a time', async () => {
    const { server, call } = await open({ protocol: 'h2', maxConcurrent: 1 });
    await call();

    expect(await outcomes(eight.map((text) => call(text)))).toEqual(eight);
    expect(server.handshakes()).toBe(1);
  });

  it('may be larger than what one connection holds by default', async () => {
    const texts = eight.map((text) => text.repeat(1.5 * 2 ** 20));
    const { call } = await open({ protocol: 'h2' });

    const answers = await outcomes(texts.map((text) => call(text, 60_000)));

    expect(answers.map((answer, index) => answer === texts[index])).toEqual(eight.map(() => true));
  });
});

describe('a webhook that ends the connection', () => {
  it.each(['h2', 'http/1.1'] as const)(
    'fails unanswered calls over %s, and gets a new connection for the next call',
    async (protocol) => {
      const waiting: Arrived[] = [];
      const { call } = await open({ protocol }, (request) => {
        waiting.push(request);
        if (waiting.length === 8) {
          waiting.forEach(({ cut }) => cut());
        } else if (waiting.length > 8) {
          echo(request);
        }
      });

      expect(await outcomes(eight.map((text) => call(text)))).toEqual(eight.map(() => 'EOF'));
      expect(await outcomes([call('next')])).toEqual(['next']);
    },
  );

  it.each(['h2', 'http/1.1'] as const)('during its answer fails the call over %s', async (protocol) => {
    const { call } = await open({ protocol }, ({ begin, cut }) => {
      begin(JSON.stringify({ response: { uid: 'a', allowed: true } })); // complete, but without its end
      setTimeout(cut, 50);
    });

    expect(await outcomes([call('a')])).toEqual(['EOF']);
  });

  it('for one stream of h2 without an answer fails the call', async () => {
    const { call } = await open({ protocol: 'h2' }, ({ leave }) => leave());

    expect(await outcomes([call('a')])).toEqual(['EOF']);
  });

  it('gracefully loses nothing: it answers active calls, and others use a new connection', async () => {
    const held: Arrived[] = [];
    const { server, call } = await open({ protocol: 'h2' }, (request, count) => {
      if (count === 1) {
        request.goAway();
        held.push(request);
      } else {
        echo(request);
      }
    });
    const first = call('first');
    await until(() => held.length === 1, 'the first call is there');

    expect(await outcomes(eight.map((text) => call(text)))).toEqual(eight);
    held.forEach(echo);
    expect(await outcomes([first])).toEqual(['first']);
    expect(server.handshakes()).toBe(2);
  });
});

describe('a request that the webhook did not process', () => {
  it('is sent once more', async () => {
    const seen: number[] = [];
    const { call } = await open({ protocol: 'h2' }, (request, count) => {
      seen.push(count);
      if (count === 1) {
        request.refuse();
      } else {
        echo(request);
      }
    });

    expect(await outcomes([call('a')])).toEqual(['a']);
    expect(seen).toEqual([1, 2]);
  });

  it('is not sent a third time', async () => {
    let asked = 0;
    const { call } = await open({ protocol: 'h2' }, (request) => {
      asked += 1;
      request.refuse();
    });

    expect(await outcomes([call('a')])).toEqual(['the webhook refused the request without processing it']);
    expect(asked).toBe(2);
  });
});

describe('a call that takes too long', () => {
  it.each(['h2', 'http/1.1'] as const)(
    'ends alone over %s, and the next one does not trust its connection',
    async (protocol) => {
      const held: Arrived[] = [];
      const { server, call } = await open({ protocol }, (request) => {
        if (/slow|never/.test(request.body)) {
          held.push(request);
        } else {
          echo(request);
        }
      });
      await call();
      const slow = call('slow');
      await until(() => held.length === 1, 'the slow call is there');

      const never = call('never', 2000);
      await until(() => held.length === 2, 'the call that is not answered is there');
      const late = await outcomes([never]);
      const before = server.handshakes();
      const next = await outcomes([call('next')]);
      held.slice(0, 1).forEach(echo);

      expect([...late, ...next]).toEqual(['context deadline exceeded', 'next']);
      expect(await outcomes([slow])).toEqual(['slow']);
      expect(server.handshakes()).toBe(before + 1);
    },
  );

  it('to connect ends after the time for that', async () => {
    const silent = createServer((socket) => socket.resume());
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const { port } = silent.address() as AddressInfo;
    const client = createWebhookClient({ connectMs: 100 });
    opened.push({ close: () => new Promise((resolve) => silent.close(resolve)) }, client);

    const called = client.call({ url: `https://127.0.0.1:${port}/` }, questionWith(''), { timeoutMs: 10_000 });

    expect(await outcomes([called])).toEqual([`dial tcp 127.0.0.1:${port}: i/o timeout`]);
  });
});

describe('idle connections', () => {
  it.each(['h2', 'http/1.1'] as const)('end with the client over %s', async (protocol) => {
    const { server, client, call } = await open({ protocol });
    await call();
    expect(server.open()).toBe(1);

    client.close();

    await until(() => server.open() === 0, 'no connection');
  });

  it('are not opened once the client is closed', async () => {
    const { server, client, target, call } = await open({ protocol: 'h2' });
    const endpoint = createEndpoint(target, 10_000);

    client.close();
    endpoint.close();

    expect(await outcomes([call()])).toEqual(['the client is closed']);
    await expect(endpoint.post({ host: 'a', path: '/', body: '' }, { timeoutMs: 10_000 })).rejects.toThrow('EOF');
    expect(server.handshakes()).toBe(0);
  });

  it.each(['h2', 'http/1.1'] as const)('keep no process alive over %s', async (protocol) => {
    const { server, target } = await open({ protocol });
    const program = `
      import { createWebhookClient } from ${JSON.stringify(join(import.meta.dirname, '../../lib/webhook-client/call.ts'))};
      const review = await createWebhookClient().call(${JSON.stringify(target)}, { request: { uid: 'u' } }, { timeoutMs: 10000 });
      console.log(review.response.uid);`;

    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', program]);

    expect([stdout.trim(), server.handshakes()]).toEqual(['u', 1]);
  });

  it.each(['h2', 'http/1.1'] as const)('of aborted calls keep no process alive over %s', async (protocol) => {
    const { target } = await open({ protocol });
    const program = `
      import { createEndpoint } from ${JSON.stringify(join(import.meta.dirname, '../../lib/webhook-client/endpoint.ts'))};
      const givingUp = new AbortController();
      const post = createEndpoint(${JSON.stringify(target)}, 10000).post({}, { timeoutMs: 10000, signal: givingUp.signal });
      givingUp.abort();
      await post.catch(({ name }) => console.log(name));`;

    const waiting = { timeout: 30_000 }; // shorter than the server keeps such a connection
    const running = promisify(execFile)(process.execPath, ['--input-type=module', '--eval', program], waiting);

    expect((await running).stdout.trim()).toBe('AbortError');
  });
});
