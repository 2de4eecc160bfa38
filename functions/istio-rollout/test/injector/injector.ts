import { setTimeout as pause } from 'node:timers/promises';
import { injection, type Proxy } from '../../sandbox/inject.ts';
import type { Pod } from '../../../../lib/kube/model/resource.ts';
import type { AdmissionRequest, AdmissionResponse, AdmissionReview } from '../../../../lib/kube/model/review.ts';
import { serveWebhook, type Arrived, type Protocol } from '../../../../lib/webhook-client/testing/webhook-server.ts';
import { sharedCertificates } from '../../../../lib/sandbox/http/certificates.ts';

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

/** It speaks HTTP/2 with those who can, as istiod does, unless told otherwise. */
export async function startInjector({
  revision = 'default',
  image = 'docker.io/istio/proxyv2:1.29.0',
  protocol = 'h2',
  ...rest
}: Partial<Behaviour> & { readonly protocol?: Protocol } = {}): Promise<Injector> {
  const certificates = await sharedCertificates();
  let behaviour: Behaviour = { delayMs: 0, mode: 'inject', revision, image, ...rest };
  const asked: Asked[] = [];
  const connections = new Set<object>();
  let probing = 0;
  let peak = 0;

  async function serve(arrived: Arrived): Promise<void> {
    const review = JSON.parse(arrived.body) as AdmissionReview;
    const question = askedBy(review, arrived);
    asked.push(question);
    if (!question.dryRun) {
      return answer(review, arrived);
    }
    connections.add(arrived.connection);
    probing += 1;
    peak = Math.max(peak, probing);
    try {
      await answer(review, arrived);
    } finally {
      probing -= 1;
    }
  }

  async function answer({ request: asks }: AdmissionReview, arrived: Arrived): Promise<void> {
    const { delayMs, heldUntil } = behaviour;
    await heldUntil;
    if (delayMs > 0) {
      await pause(delayMs);
    }
    const given = asks === undefined ? undefined : behaviour.answer?.(asks);
    if (given !== undefined) {
      send(arrived, asks, given);
      return;
    }
    switch (behaviour.mode) {
      case 'drop':
        arrived.cut();
        break;
      case 'fail':
        arrived.reply(500, 'injector failed', 'text/plain');
        break;
      case 'hang':
        break;
      case 'deny':
        send(arrived, asks, { allowed: false }); // without a status, as istiod's sometimes are
        break;
      case 'inject':
        send(arrived, asks, injected(asks, behaviour));
    }
  }

  const { port, close } = await serveWebhook({ ...certificates, protocol }, (arrived) => {
    serve(arrived).catch(arrived.cut);
  });
  const { ca } = certificates;

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

function askedBy({ request }: AdmissionReview, { path, headers }: Arrived): Asked {
  return {
    namespace: request?.namespace ?? '',
    pod: request?.object ?? {},
    path,
    contentType: String(headers['content-type'] ?? ''),
    dryRun: request?.dryRun ?? false,
  };
}

function send({ reply }: Arrived, asks: AdmissionRequest | undefined, given: Omit<AdmissionResponse, 'uid'>): void {
  const review = { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview' };
  reply(200, JSON.stringify({ ...review, response: { uid: asks?.uid ?? '', ...given } }));
}

function injected(request: AdmissionRequest | undefined, proxy: Proxy): Omit<AdmissionResponse, 'uid'> {
  const patch = injection(request?.object ?? {}, proxy);
  return patch.length === 0
    ? { allowed: true }
    : { allowed: true, patchType: 'JSONPatch', patch: Buffer.from(JSON.stringify(patch)).toString('base64') };
}
