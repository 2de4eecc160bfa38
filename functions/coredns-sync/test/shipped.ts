import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { bundle } from '../../../deploy/bundle.ts';
import { launch } from '../../../deploy/launch.ts';
import corednsSync from '../index.ts';
import { memoryOf } from '../../../lib/install/manifests/container.ts';
import type { Sandbox } from '../../../lib/sandbox/sandbox.ts';
import { start, type Usage } from '../../../test/bench/measure/program.ts';
import { binaryEvent, send } from '../../../test/support/http.ts';

/** The function as it is shipped, in a process of its own. */
export interface Shipped extends AsyncDisposable {
  readonly url: URL;
  readonly usage: () => Promise<Usage>;
  /** Lets it look at everything. */
  readonly tick: () => Promise<void>;
}

const folder = resolve(import.meta.dirname, '..');

export async function startShipped({ kubeconfig }: Pick<Sandbox, 'kubeconfig'>): Promise<Shipped> {
  await using stack = new AsyncDisposableStack();
  const directory = await mkdtemp(join(tmpdir(), 'kube-reflex-shipped-'));
  stack.defer(() => rm(directory, { recursive: true }));
  await writeFile(join(directory, 'kubeconfig'), JSON.stringify(kubeconfig));
  const { file } = await bundle(folder, directory);
  const { flags, environment } = launch({ compileCache: join(directory, 'cache') });
  const settings = {
    ...memoryOf(corednsSync.scaling),
    KUBECONFIG: join(directory, 'kubeconfig'),
    PORT: '0',
    DRAIN_SECONDS: '0',
    POD_NAMESPACE: 'kube-reflex',
    COREDNS_AUTO_CONFIGURE: 'true',
    MIN_WRITE_INTERVAL_MS: '0',
  };
  const { urls, usage, stop } = await start({ file, flags, environment: { ...environment, ...settings } });
  stack.defer(async () => {
    await stop();
  });
  const [url = new URL('http://127.0.0.1')] = urls;
  const running = stack.move();
  return {
    url,
    usage,
    tick: async () => {
      const { status } = await send(url, binaryEvent({ type: 'dev.knative.sources.ping' }));
      if (status !== 204) {
        throw new Error(`a tick was answered with ${status}`);
      }
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}
