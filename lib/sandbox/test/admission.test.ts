import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { createServer, request as httpsRequest, type Server } from 'node:https';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { configMaps, type Deployment, deployments, mutatingWebhooks, pods } from '../../kube/model/resource.ts';
import type { KubeObject } from '../../kube/model/wire.ts';
import type { AdmissionRequest, AdmissionReview } from '../../kube/model/review.ts';
import { createCertificates } from '../http/certificates.ts';
import { startSandbox, type Sandbox } from '../sandbox.ts';
import { allow, answerWith, patch, type Reply } from './webhook-replies.ts';

const namespace = 'default';

let sandbox: Sandbox;
let server: Server;
let ca: string;
let reply: Reply = allow;
let connections = 0;
let asked: { readonly url: string; readonly request: AdmissionRequest }[] = [];

beforeAll(async () => {
  sandbox = await startSandbox({ podReadyMs: 0 });
  const certificates = await createCertificates(new Date());
  ca = certificates.ca;
  server = createServer({ cert: certificates.certificate, key: certificates.key }, answer);
  server.on('secureConnection', () => (connections += 1));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});

afterEach(async () => {
  for (const { metadata } of sandbox.api.list(mutatingWebhooks)) {
    await sandbox.api.remove(mutatingWebhooks, { name: metadata?.name ?? '' });
  }
  reply = allow;
  asked = [];
});

afterAll(async () => {
  await sandbox.close();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

describe('admission over HTTPS', () => {
  it('names the user to the webhook, and applies its patch', async () => {
    await register({});
    reply = patch([{ op: 'add', path: '/data', value: { added: 'yes' } }]);

    const created = await call('POST', path('configmaps'), configMap('one'), { 'impersonate-user': 'bob' });

    expect(created).toMatchObject({ code: 201, body: { data: { added: 'yes' } } });
    expect(asked.map(({ url }) => url)).toEqual(['/hook?timeout=2s']);
    expect(asked[0]?.request).toMatchObject({
      operation: 'CREATE',
      name: 'one',
      namespace,
      userInfo: { username: 'bob', groups: ['system:authenticated'] },
      dryRun: false,
      options: { kind: 'CreateOptions', apiVersion: 'meta.k8s.io/v1' },
    });
  });

  it('uses one connection for many calls', async () => {
    await register({});
    await call('POST', path('configmaps'), configMap('first'));
    const before = connections;

    for (const name of ['second', 'third', 'fourth']) {
      await call('POST', path('configmaps'), configMap(name));
    }

    expect(connections).toBe(before);
    expect(asked).toHaveLength(4);
  });

  it('gives the denial of a webhook to the client', async () => {
    await register({});
    reply = answerWith({ allowed: false, status: { code: 418, message: 'not today' } });

    expect(await call('POST', path('configmaps'), configMap('denied'))).toMatchObject({
      code: 418,
      body: { message: 'admission webhook "hook.example.com" denied the request: not today', code: 418 },
    });
    expect(sandbox.api.get(configMaps, 'denied', namespace)).toBeUndefined();
  });

  it('sends warnings along', async () => {
    await register({});
    reply = answerWith({ allowed: true, warnings: ['mind the gap'] });

    const { headers } = await call('POST', path('configmaps'), configMap('warned'));

    expect(headers['warning']).toBe('299 - "mind the gap"');
  });

  it('does not wait forever', async () => {
    await register({ timeoutSeconds: 1 });
    reply = () => undefined;

    expect(await call('POST', path('configmaps'), configMap('late'))).toMatchObject({
      code: 500,
      body: {
        reason: 'InternalError',
        message: `Internal error occurred: failed calling webhook "hook.example.com": failed to call webhook: Post "https://127.0.0.1:${port()}/hook?timeout=1s": context deadline exceeded`,
      },
    });
  });

  it('goes on without a webhook that may fail', async () => {
    await register({ failurePolicy: 'Ignore' });
    reply = (_request, message) => message.socket.destroy();

    expect((await call('POST', path('configmaps'), configMap('lucky'))).code).toBe(201);
  });

  it('trusts only the given authority', async () => {
    const other = await createCertificates(new Date());
    await register({ clientConfig: { url: url(), caBundle: Buffer.from(other.ca).toString('base64') } });

    expect((await call('POST', path('configmaps'), configMap('untrusted'))).body['message']).toContain(
      'tls: failed to verify certificate: x509: certificate signed by unknown authority',
    );
  });

  it('calls a Service on this machine, by its name', async () => {
    const service = { namespace: 'default', name: 'kubernetes', path: '/by-service', port: port() };
    await register({ clientConfig: { service, caBundle: Buffer.from(ca).toString('base64') } });

    await call('POST', path('configmaps'), configMap('served'));

    expect(asked.map((each) => each.url)).toEqual(['/by-service?timeout=2s']);
  });

  it('asks again when configurations change, at once', async () => {
    await register({ rules: [rule(['secrets'])] });
    await call('POST', path('configmaps'), configMap('before'));
    expect(asked).toEqual([]);

    await sandbox.api.remove(mutatingWebhooks, { name: 'hook' });
    await register({});
    await call('POST', path('configmaps'), configMap('after'));

    expect(asked).toHaveLength(1);
  });

  it('sees what controllers do, but not where pods are placed', async () => {
    await register({ rules: [rule(['pods', 'pods/status'])] });
    const deployment: Deployment = {
      metadata: { name: 'web', namespace },
      spec: {
        replicas: 1,
        selector: { matchLabels: { app: 'web' } },
        template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
      },
    };

    await sandbox.api.create(deployments, deployment);
    await waitFor(() => asked.some(({ request }) => request.subResource === 'status'));

    const calls = asked.map(({ request: { operation, subResource = '', userInfo } }) => [
      operation,
      subResource,
      userInfo.username,
    ]);
    expect(calls[0]).toEqual(['CREATE', '', 'system:serviceaccount:kube-system:replicaset-controller']);
    expect(calls[1]).toEqual(['UPDATE', 'status', expect.stringMatching(/^system:node:/)]);
    expect(sandbox.api.list(pods, { namespace })).toHaveLength(1);
  });

  it('dry-runs through webhooks without side effects', async () => {
    await register({});

    const { code } = await call('POST', `${path('configmaps')}?dryRun=All`, configMap('dry'));

    expect(code).toBe(201);
    expect(asked[0]?.request.dryRun).toBe(true);
    expect(sandbox.api.get(configMaps, 'dry', namespace)).toBeUndefined();
  });

  it('asks by conditions on the request', async () => {
    const matchConditions = [{ name: 'only-bob', expression: 'request.userInfo.username == "bob"' }];
    await register({ matchConditions });

    await call('POST', path('configmaps'), configMap('of-admin'));
    await call('POST', path('configmaps'), configMap('of-bob'), { 'impersonate-user': 'bob' });

    expect(asked.map(({ request }) => request.name)).toEqual(['of-bob']);
  });
});

function answer(message: IncomingMessage, response: ServerResponse): void {
  const chunks: Buffer[] = [];
  message.on('data', (chunk: Buffer) => chunks.push(chunk));
  message.on('end', () => {
    const { request } = JSON.parse(Buffer.concat(chunks).toString()) as AdmissionReview;
    if (request !== undefined) {
      asked.push({ url: message.url ?? '', request });
      reply(request, message, response);
    }
  });
}

function port(): number {
  return (server.address() as AddressInfo).port;
}

function url(): string {
  return `https://127.0.0.1:${String(port())}/hook`;
}

function rule(resources: readonly string[]): object {
  return { operations: ['*'], apiGroups: [''], apiVersions: ['v1'], resources };
}

async function register(changes: object): Promise<void> {
  const webhook = {
    name: 'hook.example.com',
    clientConfig: { url: url(), caBundle: Buffer.from(ca).toString('base64') },
    rules: [rule(['configmaps'])],
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
    timeoutSeconds: 2,
    namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } },
    ...changes,
  };
  const configuration = {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'MutatingWebhookConfiguration',
    metadata: { name: 'hook' },
    webhooks: [webhook],
  };
  const { code, body } = await call(
    'POST',
    '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations',
    configuration,
  );
  if (code !== 201) {
    throw new Error(`the webhook was not registered: ${JSON.stringify(body)}`);
  }
}

function configMap(name: string): KubeObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } };
}

function path(plural: string): string {
  return `/api/v1/namespaces/${namespace}/${plural}`;
}

interface Outcome {
  readonly code: number;
  readonly body: Record<string, unknown>;
  readonly headers: Record<string, unknown>;
}

function call(method: string, target: string, body: object, headers: Record<string, string> = {}): Promise<Outcome> {
  const text = JSON.stringify(body);
  return new Promise((resolve, reject) => {
    const request = httpsRequest(
      new URL(target, sandbox.url),
      {
        method,
        ca: sandbox.ca,
        agent: false,
        headers: { authorization: `Bearer ${sandbox.adminToken}`, 'content-type': 'application/json', ...headers },
      },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () => {
          const answered = JSON.parse(Buffer.concat(chunks).toString()) as Record<string, unknown>;
          resolve({ code: response.statusCode ?? 0, body: answered, headers: response.headers });
        });
      },
    );
    request.on('error', reject);
    request.end(text);
  });
}

async function waitFor(look: () => boolean): Promise<void> {
  while (!look()) {
    await new Promise((resolve) => setImmediate(resolve));
  }
}
