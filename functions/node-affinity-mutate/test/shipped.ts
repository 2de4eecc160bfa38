import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import https from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundle } from '../../../deploy/bundle.ts';
import { launch } from '../../../deploy/launch.ts';
import { pool, poolKey } from '../testing/pods.ts';
import { nodes } from '../../../lib/kube/model/resource.ts';
import type { AdmissionResponse } from '../../../lib/kube/model/review.ts';
import { startSandbox } from '../../../lib/sandbox/sandbox.ts';
import { start, type Program, type Started } from '../../../test/bench/measure/program.ts';
import { podReview } from '../../../test/bench/measure/reviews.ts';
import { webhookCertificates } from '../../../test/bench/measure/site.ts';
import { binaryEvent, send } from '../../../test/support/http.ts';

/** The function as it is shipped, in a process of its own, beside a sandbox cluster whose pool has a node. */
export interface ShippedWebhook extends AsyncDisposable {
  readonly program: Started;
  /** How Node was started. */
  readonly flags: readonly string[];
  /** Where it answers reviews. */
  readonly url: URL;
  /** The name that its certificate is for, and who signed it. */
  readonly host: string;
  readonly ca: Buffer;
  /** The directory with the certificate. */
  readonly certificates: string;
  /** What it adds to a bare pod. */
  readonly patch: string;
}

export const reviewPath = '/mutate?timeout=3s';

const host = 'node-affinity-mutate-webhook.default.svc';

export async function startShipped({ environment = {}, ...how }: Omit<Program, 'file'> = {}): Promise<ShippedWebhook> {
  await using stack = new AsyncDisposableStack();
  const directory = await mkdtemp(join(tmpdir(), 'kube-reflex-shipped-'));
  stack.defer(() => rm(directory, { recursive: true }));
  const mounted = await webhookCertificates(join(directory, 'certificates'), host);
  const certificates = join(mounted, '..data');
  const sandbox = stack.adopt(await startSandbox(), (started) => started.close());
  await sandbox.api.create(nodes, { metadata: { name: 'n1', labels: { [poolKey]: pool } } });
  await writeFile(join(directory, 'kubeconfig'), JSON.stringify(sandbox.kubeconfig));
  const { file } = await bundle('functions/node-affinity-mutate', directory);
  const shipped = launch({ compileCache: join(directory, 'cache') });
  const { flags = shipped.flags } = how;
  const settings = {
    KUBECONFIG: join(directory, 'kubeconfig'),
    CERT_DIR: mounted,
    POOL_NAME: pool,
    REFRESH_SECONDS: '1',
    PORT: '0',
    TLS_PORT: '0',
    DRAIN_SECONDS: '0',
  };
  const program = await start({
    file,
    ...how,
    flags,
    environment: { ...shipped.environment, ...settings, ...environment },
  });
  stack.defer(async () => {
    await program.stop();
  });
  const ca = await readFile(join(certificates, 'ca.crt'));
  const patch = await untilPatched(program, ca);
  const running = stack.move();
  const url = program.urls.at(-1) ?? noAddress();
  return { program, flags, url, host, ca, certificates, patch, [Symbol.asyncDispose]: () => running.disposeAsync() };
}

/** Lets the function look for its pool; returns the patch that it then answers. */
async function untilPatched({ urls }: Started, ca: Buffer): Promise<string> {
  const agent = new https.Agent({ ca, servername: host });
  const [events = noAddress()] = urls;
  const url = urls.at(-1) ?? noAddress();
  const body = podReview({ bytes: 0, rich: false });
  for (;;) {
    await send(events, binaryEvent({ type: 'dev.knative.sources.ping' }));
    const review = { path: reviewPath, headers: { 'content-type': 'application/json' }, body, agent };
    const answer = await send(url, review).catch(() => ({ body: '{}' }));
    const { response } = JSON.parse(answer.body) as { readonly response?: AdmissionResponse };
    if (response?.patch !== undefined) {
      agent.destroy();
      return Buffer.from(response.patch, 'base64').toString();
    }
  }
}

function noAddress(): never {
  throw new Error('the program tells no address');
}
