import { createServer, type ServerOptions } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { CompanionOptions } from '../../../lib/cli/start/companion.ts';
import { configMaps, mutatingWebhooks, namespaces, type ConfigMap } from '../../../lib/kube/model/resource.ts';
import type { AdmissionReview } from '../../../lib/kube/model/review.ts';
import type { InternalApi } from '../../../lib/sandbox/model/internal.ts';
import { stateName, statusName } from '../names.ts';
import { renderStatus, type Status } from '../render.ts';
import { parseRows } from '../rows.ts';
import { decode } from '../state/codec.ts';
import { injection, type Proxy } from './inject.ts';
import { injectorConfigMap, revisionWebhooks } from './istio.ts';
import { tableOf } from './table.ts';

const revision = 'default';
const release = { revision, tag: '1.28.4' };

/**
 * A mesh without Istio: a small injector stands in for istiod. It injects what the injector ConfigMap says at that
 * moment, so whoever changes the tag there has upgraded the control plane.
 */
export async function startCompanion({ api, certificates, log }: CompanionOptions): Promise<() => Promise<void>> {
  const { ca, certificate: cert, key } = certificates;
  const injector = await listen({ cert, key }, (review) => answer(review, currentProxy(api)));
  const clientConfig = { url: `${injector.url}/inject`, caBundle: Buffer.from(ca).toString('base64') };
  await api.create(namespaces, { metadata: { name: 'istio-system' } });
  await api.create(configMaps, injectorConfigMap(release));
  await api.create(mutatingWebhooks, revisionWebhooks(revision, clientConfig));
  log.info({ url: injector.url, tag: release.tag }, 'no istiod here: a small built-in injector stands in for it');
  const stopTelling = tellStatus(api, (table) => log.info(table));
  return async () => {
    stopTelling();
    await injector.close();
  };
}

/** Tells the status as a table whenever it has become another. */
function tellStatus(api: InternalApi, tell: (table: string) => void): () => void {
  let last: string | undefined;
  return api.subscribe(configMaps, ({ object: { metadata } }) => {
    if (metadata?.name === stateName || metadata?.name === statusName) {
      const table = tableOf(statusIn(api, metadata.namespace));
      if (table !== undefined && table !== last) {
        tell(`\n${table}`);
      }
      last = table;
    }
  });
}

function statusIn(api: InternalApi, namespace: string | undefined): Status {
  const [state, status] = [stateName, statusName].map((name) => {
    const { data = {} } = (api.get(configMaps, name, namespace) ?? {}) as ConfigMap;
    return data;
  });
  return renderStatus(decode({ data: state ?? {}, parts: [] }), parseRows(status));
}

interface Listening {
  readonly url: string;
  readonly close: () => Promise<void>;
}

async function listen(tls: ServerOptions, answer: (review: AdmissionReview) => AdmissionReview): Promise<Listening> {
  const server = createServer(tls, (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const review = JSON.parse(Buffer.concat(chunks).toString()) as AdmissionReview;
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer(review)));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  async function close(): Promise<void> {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
  return { url: `https://127.0.0.1:${port}`, close };
}

function answer({ request, ...envelope }: AdmissionReview, proxy: Proxy): AdmissionReview {
  const patch = injection(request?.object ?? {}, proxy);
  const encoded = Buffer.from(JSON.stringify(patch)).toString('base64');
  return {
    ...envelope,
    response: { uid: request?.uid ?? '', allowed: true, patchType: 'JSONPatch', patch: encoded },
  };
}

function currentProxy(api: InternalApi): Proxy {
  const { name = '', namespace } = injectorConfigMap(release).metadata ?? {};
  const stored = api.get(configMaps, name, namespace) as ConfigMap | undefined;
  const { global } = JSON.parse(stored?.data?.['values'] ?? '{}') as {
    readonly global?: { readonly hub?: string; readonly tag?: string };
  };
  return { revision, image: `${global?.hub ?? ''}/proxyv2:${global?.tag ?? release.tag}` };
}
