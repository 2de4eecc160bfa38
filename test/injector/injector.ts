import { createServer } from 'node:https';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { injection, type Proxy } from '../../functions/istio-rollout/sandbox/inject.ts';
import type { Pod } from '../../lib/kube/resource.ts';
import type { AdmissionRequest, AdmissionResponse, AdmissionReview } from '../../lib/review/review.ts';
import { createCertificates } from '../../lib/sandbox/requests/certificates.ts';

/** How the injector answers; a test changes it while it runs. */
export interface Behaviour extends Proxy {
  readonly delayMs: number;
  /** Holds back every answer until then. */
  readonly heldUntil?: Promise<void>;
  /** `inject` works; `deny` refuses without saying why; `fail` answers 500; `hang` never answers; `drop` ends the connection. */
  readonly mode: 'inject' | 'deny' | 'fail' | 'hang' | 'drop';
  /** Another answer than the mode's, for the requests that it returns one for. */
  readonly answer?: (request: AdmissionRequest) => Omit<AdmissionResponse, 'uid'> | undefined;
}

/** One question that arrived. */
export interface Asked {
  readonly namespace: string;
  readonly pod: Pod;
  readonly path: string;
  readonly contentType: string;
  /** A probe; what an API server asks when a pod is really made is none. */
  readonly dryRun: boolean;
}

/** An injection webhook like istiod's, over TLS, that counts. */
export interface Injector extends AsyncDisposable {
  /** What a webhook configuration says to reach it. */
  readonly clientConfig: { readonly url: string; readonly caBundle: string };
  readonly port: number;
  readonly ca: string;
  readonly behave: (change: Partial<Behaviour>) => void;
  /** All questions so far, in the order of their arrival. */
  readonly asked: readonly Asked[];
  readonly counts: () => Counts;
  readonly close: () => Promise<void>;
}

export interface Counts {
  readonly probes: number;
  /** TLS connections that carried probes. */
  readonly handshakes: number;
  /** Most probes that were under way at one moment. */
  readonly peak: number;
}

export async function startInjector({
  revision = 'default',
  image = 'docker.io/istio/proxyv2:1.29.0',
  ...rest
}: Partial<Behaviour> = {}): Promise<Injector> {
  const { ca, certificate, key } = await createCertificates(new Date());
  let behaviour: Behaviour = { delayMs: 0, mode: 'inject', revision, image, ...rest };
  const asked: Asked[] = [];
  const connections = new Set<Socket>();
  let probing = 0;
  let peak = 0;

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const review = JSON.parse(Buffer.concat((await request.toArray()) as Buffer[]).toString()) as AdmissionReview;
    const question = askedBy(review, request);
    asked.push(question);
    if (!question.dryRun) {
      return answer(review, request, response);
    }
    connections.add(request.socket);
    probing += 1;
    peak = Math.max(peak, probing);
    try {
      await answer(review, request, response);
    } finally {
      probing -= 1;
    }
  }

  async function answer(
    { request: asks }: AdmissionReview,
    { socket }: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    const { delayMs, heldUntil } = behaviour;
    await heldUntil;
    if (delayMs > 0) {
      await pause(delayMs);
    }
    const given = asks === undefined ? undefined : behaviour.answer?.(asks);
    if (given !== undefined) {
      send(response, asks, given);
      return;
    }
    switch (behaviour.mode) {
      case 'drop':
        socket.destroy();
        break;
      case 'fail':
        response.writeHead(500).end('injector failed');
        break;
      case 'hang':
        break;
      case 'deny':
        send(response, asks, { allowed: false }); // without a status, as istiod's sometimes are
        break;
      case 'inject':
        send(response, asks, injected(asks, behaviour));
    }
  }

  const server = createServer({ cert: certificate, key, keepAliveTimeout: 100_000 }, (request, response) => {
    serve(request, response).catch(() => request.socket.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;

  async function close(): Promise<void> {
    await new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  }

  return {
    clientConfig: { url: `https://127.0.0.1:${port}/inject`, caBundle: Buffer.from(ca).toString('base64') },
    port,
    ca,
    behave: (change) => {
      behaviour = { ...behaviour, ...change };
    },
    asked,
    counts: () => ({ probes: asked.filter(({ dryRun }) => dryRun).length, handshakes: connections.size, peak }),
    close,
    [Symbol.asyncDispose]: close,
  };
}

function askedBy({ request }: AdmissionReview, { url = '', headers }: IncomingMessage): Asked {
  return {
    namespace: request?.namespace ?? '',
    pod: request?.object ?? {},
    path: url,
    contentType: headers['content-type'] ?? '',
    dryRun: request?.dryRun ?? false,
  };
}

function send(
  response: ServerResponse,
  asks: AdmissionRequest | undefined,
  given: Omit<AdmissionResponse, 'uid'>,
): void {
  const review = { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview' };
  const body = JSON.stringify({ ...review, response: { uid: asks?.uid ?? '', ...given } });
  response.writeHead(200, { 'content-type': 'application/json' }).end(body);
}

function injected(request: AdmissionRequest | undefined, proxy: Proxy): Omit<AdmissionResponse, 'uid'> {
  const patch = injection(request?.object ?? {}, proxy);
  return patch.length === 0
    ? { allowed: true }
    : { allowed: true, patchType: 'JSONPatch', patch: Buffer.from(JSON.stringify(patch)).toString('base64') };
}
