import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { createServer as createPlainServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Certificates, createCertificates } from '../../lib/sandbox/http/certificates.ts';
import { createWebhookClient, type WebhookClient, type WebhookTarget } from '../../lib/webhook-client/call.ts';
import { type AdmissionReview, reviewOf } from '../../lib/kube/model/review.ts';
import { serveWebhook, type Arrived, type WebhookServer } from '../../lib/webhook-client/testing/webhook-server.ts';

type Handler = (request: Arrived) => void;

const question = reviewOf({
  uid: 'u',
  kind: { group: '', version: 'v1', kind: 'Pod' },
  resource: { group: '', version: 'v1', resource: 'pods' },
  operation: 'CREATE',
  userInfo: { username: 'bob' },
  object: {},
  oldObject: null,
  options: null,
});
const answer: AdmissionReview = {
  apiVersion: 'admission.k8s.io/v1',
  kind: 'AdmissionReview',
  response: { uid: 'u', allowed: true },
};

let certificates: Certificates;
let server: WebhookServer;
let client: WebhookClient;
let handler: Handler = answerWell;

describe.each(['http/1.1', 'h2'] as const)('a call of a webhook that speaks %s', (protocol) => {
  beforeAll(async () => {
    certificates = await createCertificates(new Date());
    server = await serveWebhook({ ...certificates, protocol }, (request) => handler(request));
    client = createWebhookClient();
  });

  afterEach(() => {
    handler = answerWell;
  });

  afterAll(async () => {
    client.close();
    await server.close();
  });

  it('looks like that of an API server', async () => {
    const seen: { url?: string; headers?: object; body?: unknown } = {};
    handler = (request) => {
      const { path, headers, body } = request;
      Object.assign(seen, { url: path, headers, body: JSON.parse(body) as unknown });
      answerWell(request);
    };

    await expect(call('/hook')).resolves.toEqual(answer);

    expect(seen.url).toBe('/hook?timeout=30s');
    expect(seen.body).toEqual(question);
    expect(seen.headers).toMatchObject({
      host: `127.0.0.1:${server.port}`,
      'user-agent': 'kube-apiserver-admission',
      'content-type': 'application/json',
      accept: 'application/json, */*',
    });
  });

  it('keeps the connection for the next one', async () => {
    await call('/');
    const before = server.handshakes();

    await call('/a');
    await call('/b');

    expect(server.handshakes()).toBe(before);
  });

  it('goes to the address of a Service under its name', async () => {
    const seen: unknown[] = [];
    handler = (request) => {
      seen.push(request.headers['host']);
      answerWell(request);
    };

    await client.call(
      {
        url: 'https://kubernetes.default.svc:443/hook',
        serverName: 'kubernetes.default.svc',
        ca: certificates.ca,
        address: { host: '127.0.0.1', port: server.port },
      },
      question,
      { timeoutMs: 30_000 },
    );

    expect(seen).toEqual(['kubernetes.default.svc:443']);
  });

  it('fails when the certificate is for another name', async () => {
    const target = {
      ...targetOf('/'),
      url: `https://hook.a.svc:${server.port}/`,
      address: { host: '127.0.0.1', port: server.port },
    };

    await expect(client.call(target, question, { timeoutMs: 30_000 })).rejects.toThrow(
      /tls: failed to verify certificate: x509: certificate is valid for .*127\.0\.0\.1, .*, not hook\.a\.svc$/,
    );
  });

  it('fails when the certificate is not trusted', async () => {
    await expect(client.call({ url: targetOf('/').url }, question, { timeoutMs: 30_000 })).rejects.toThrow(
      `Post "https://127.0.0.1:${server.port}/?timeout=30s": tls: failed to verify certificate: x509: certificate signed by unknown authority`,
    );
  });

  it('fails when the configuration has no address', async () => {
    await expect(client.call({ url: 'https://[' }, question, { timeoutMs: 30_000 })).rejects.toThrow(
      'Post "https://[?timeout=30s": Invalid URL',
    );
  });

  it.each<[string, Handler, string]>([
    ['404', status(404), 'the server could not find the requested resource'],
    ['400', status(400), 'the server rejected our request for an unknown reason'],
    ['403', status(403), 'unknown'],
    ['500', status(500), 'an error on the server ("unknown") has prevented the request from succeeding'],
    ['500 with a text', status(500, 'boom', 'text/plain'), 'an error on the server ("boom") has prevented'],
    ['418', status(418), 'the server responded with the status code 418 but did not return more information'],
    ['a Status', status(500, '{"kind":"Status","message":"custom"}'), 'custom'],
    ['nothing', status(200), '0-length response with status code: 200 and content type: application/json'],
    ['a text', status(200, 'hello'), "couldn't get version/kind; json parse error: json: cannot unmarshal string"],
    ['a list', status(200, '[]'), "couldn't get version/kind; json parse error: json: cannot unmarshal array"],
    ['another kind', status(200, '{"apiVersion":"v1","kind":"Pod"}'), 'no kind "Pod" is registered for version "v1"'],
    [
      'an older version',
      status(200, '{"apiVersion":"admission.k8s.io/v1beta1","kind":"AdmissionReview"}'),
      'converting (v1beta1.AdmissionReview) to (v1.AdmissionReview): unknown conversion',
    ],
    ['a wrong type', status(200, '{"response":{"allowed":"yes"}}'), 'cannot unmarshal string into Go struct field'],
    ['bad base64', status(200, '{"response":{"patch":"!"}}'), 'illegal base64 data at input byte 0'],
    ['the end of the connection', (request) => request.cut(), ': EOF'],
    ['more than is ever needed', status(200, ' '.repeat(17 * 2 ** 20)), 'the response is larger than 16777216 bytes'],
  ])('fails when it gets %s', async (_name, reply, message) => {
    handler = reply;

    await expect(call('/')).rejects.toThrow(message);
  });

  describe.each<[string, Handler]>([
    ['begins', () => undefined],
    ['ends', (request) => request.begin('{')],
  ])('to which the answer never %s', (_name, reply) => {
    it('ends with its time', async () => {
      handler = reply;

      await expect(client.call(targetOf('/slow'), question, { timeoutMs: 50 })).rejects.toThrow(
        `Post "https://127.0.0.1:${server.port}/slow?timeout=1s": context deadline exceeded`,
      );
    });

    it('ends when the caller gives up', async () => {
      const giveUp = new AbortController();
      handler = (request) => {
        reply(request);
        setImmediate(() => giveUp.abort());
      };

      const called = client.call(targetOf('/slow'), question, { timeoutMs: 5000, signal: giveUp.signal });

      await expect(called).rejects.toThrow(
        `Post "https://127.0.0.1:${server.port}/slow?timeout=5s": This operation was aborted`,
      );
    });
  });

  it('is not made for a caller who has given up', async () => {
    const before = server.handshakes();

    const called = client.call(targetOf('/'), question, { timeoutMs: 30_000, signal: AbortSignal.abort() });

    await expect(called).rejects.toThrow('This operation was aborted');
    expect(server.handshakes()).toBe(before);
  });

  it('names the address that refuses connections', async () => {
    const free = await freePort();

    await expect(
      client.call({ url: `https://127.0.0.1:${free}/?a=b` }, question, { timeoutMs: 30_000 }),
    ).rejects.toThrow(
      `Post "https://127.0.0.1:${free}/?a=b&timeout=30s": dial tcp 127.0.0.1:${free}: connect: connection refused`,
    );
  });

  it('reports a server without TLS', async () => {
    const plain = createPlainServer((_request, response) => response.end());
    await new Promise<void>((resolve) => plain.listen(0, '127.0.0.1', resolve));
    const { port: at } = plain.address() as AddressInfo;

    await expect(client.call({ url: `https://127.0.0.1:${at}/` }, question, { timeoutMs: 30_000 })).rejects.toThrow(
      'http: server gave HTTP response to HTTPS client',
    );
    await new Promise((resolve) => plain.close(resolve));
  });
});

function answerWell({ reply }: Arrived): void {
  reply(200, JSON.stringify(answer));
}

function status(code: number, text = '', contentType = 'application/json'): Handler {
  return ({ reply }) => reply(code, text, contentType);
}

function targetOf(path: string): WebhookTarget {
  return { url: `https://127.0.0.1:${server.port}${path}`, ca: certificates.ca };
}

function call(path: string): Promise<AdmissionReview> {
  return client.call(targetOf(path), question, { timeoutMs: 30_000 });
}

async function freePort(): Promise<number> {
  const probe = createPlainServer();
  await new Promise<void>((resolve) => probe.listen(0, '127.0.0.1', resolve));
  const { port: free } = probe.address() as AddressInfo;
  await new Promise((resolve) => probe.close(resolve));
  return free;
}
