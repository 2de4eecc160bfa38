import { afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Kube } from '../../../lib/kube/client.ts';
import type { AdmissionReview } from '../../../lib/kube/model/review.ts';
import {
  serveWebhook,
  type Arrived,
  type Protocol,
  type WebhookServer,
} from '../../../lib/webhook-client/testing/webhook-server.ts';
import { createCertificates, type Certificates } from '../../../lib/sandbox/http/certificates.ts';
import { Config } from '../config.ts';
import type { Injector } from '../mesh/webhooks.ts';
import { createProber, type Expectation, type Prober } from '../probe/prober.ts';

let certificates: Certificates;
let server: WebhookServer;
let prober: Prober;
let arrived: number;
let serve: (request: Arrived) => void;

beforeAll(async () => {
  certificates = await createCertificates(new Date());
});

beforeEach(() => {
  arrived = 0;
});

afterEach(async () => {
  prober.close();
  await server.close();
});

async function open(protocol: Protocol): Promise<void> {
  server = await serveWebhook({ ...certificates, protocol }, (request) => {
    arrived += 1;
    serve(request);
  });
  const { signal } = new AbortController();
  const context = { kube: {} as Kube, signal, now: () => new Date() }; // the API server is not asked
  prober = createProber(context, { config: Config.parse({}), isOver: () => false, onProbe: () => undefined });
}

function ask(name: string): Promise<Expectation> {
  const url = `https://127.0.0.1:${server.port}/inject`;
  const clientConfig = { url, caBundle: Buffer.from(certificates.ca).toString('base64') };
  const injector: Injector = {
    ...{ configuration: 'istio-sidecar-injector', position: 0, timeoutSeconds: 10, isConditional: false },
    clientConfig,
  };
  return prober.ask([injector], {
    namespace: 'shop',
    owner: { apiVersion: 'apps/v1', kind: 'ReplicaSet', name, uid: name },
    labels: { app: name },
    annotations: {},
    spec: { containers: [{ name: 'app', image: 'app' }] },
  });
}

function decline({ body, reply }: Arrived): void {
  const { request } = JSON.parse(body) as AdmissionReview;
  reply(200, JSON.stringify({ response: { uid: request?.uid, allowed: true } }));
}

const eight = ['1', '2', '3', '4', '5', '6', '7', '8'];
const unknown = { failed: expect.stringContaining('EOF') };

describe('an injector', () => {
  it.each(['h2', 'http/1.1'] as const)('that is lost once over %s is asked the rest of the scan', async (protocol) => {
    await open(protocol);
    const waiting: Arrived[] = [];
    serve = (request) => {
      waiting.push(request);
      if (waiting.length === eight.length) {
        waiting.forEach(({ cut }) => cut());
        serve = decline;
      }
    };

    expect(await Promise.all(eight.map(ask))).toEqual(eight.map(() => unknown));
    expect(await ask('next')).toEqual({ proxy: undefined });
  });

  it('that fails three times in a row is left alone', async () => {
    await open('h2');
    serve = ({ cut }) => cut();

    expect([await ask('1'), await ask('2'), await ask('3')]).toEqual([unknown, unknown, unknown]);
    expect(await ask('4')).toEqual({ failed: 'not asked: the injector failed 3 times in a row' });
    expect(arrived).toBe(3);
  });
});
