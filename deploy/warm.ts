import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { findFunctions } from '../lib/cli/functions.ts';
import { exampleEnvironment } from '../lib/function/config.ts';
import type { Definition } from '../lib/function/definition.ts';
import { launch } from './launch.ts';

/**
 * `node deploy/warm.ts <folder of bundles> [folder of functions…]`: starts every function once, as the image will, and
 * lets it meet an event, so that `cache` beside the bundles holds the code of a first answer. Node keys that cache by
 * its own version, the path of the bundle and the user, hence this runs in the image's build as the image's user.
 */
const [out = 'dist', ...folders] = process.argv.slice(2);
const compileCache = resolve(out, 'cache');
const found = await Promise.all([resolve(import.meta.dirname, '../functions'), ...folders].map(findFunctions));

await mkdir(compileCache, { recursive: true });
const directory = await mkdtemp(join(tmpdir(), 'kube-reflex-warm-'));
try {
  const kubeconfig = join(directory, 'kubeconfig');
  await writeFile(kubeconfig, JSON.stringify(nowhere()));
  for (const { definition } of found.flat()) {
    await warm(definition, kubeconfig);
  }
} finally {
  await rm(directory, { recursive: true });
}
await makeReadable(compileCache);

async function warm({ name, config }: Definition, kubeconfig: string): Promise<void> {
  const { flags, environment } = launch({ compileCache });
  const settings = { KUBECONFIG: kubeconfig, PORT: '0', TLS_PORT: '0', DRAIN_SECONDS: '0', LOG_LEVEL: 'info' };
  const child = spawn(process.execPath, [...flags, resolve(out, 'kube-reflex.cjs'), name], {
    env: { ...exampleEnvironment(config), ...environment, ...settings },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit') as Promise<[number | null]>;
  for await (const line of createInterface({ input: child.stdout })) {
    const { msg, urls } = JSON.parse(line) as { readonly msg: string; readonly urls?: readonly string[] };
    if (msg === 'listening' && urls?.[0] !== undefined) {
      await meet(new URL(urls[0]));
      child.kill('SIGTERM');
    }
  }
  const [code] = await exited;
  if (code !== 0) {
    throw new Error(`warm ${name}: it ended with ${String(code)}`);
  }
  console.log(`warmed ${name}`);
}

/** A tick reads the cluster, so that what is loaded late is compiled too; that nobody answers it is expected. */
async function meet(url: URL): Promise<void> {
  const headers = {
    'ce-specversion': '1.0',
    'ce-id': 'warm',
    'ce-source': '/warm',
    'ce-type': 'dev.knative.sources.ping',
    'content-type': 'application/json',
  };
  const { status } = await fetch(url, { method: 'POST', headers, body: '{}' });
  if (status !== 503 && status !== 204) {
    throw new Error(`warm ${url.href}: a tick without a cluster was answered ${String(status)}, expected 503`);
  }
}

function nowhere(): unknown {
  return {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'nowhere', cluster: { server: 'https://127.0.0.1:1' } }],
    users: [{ name: 'nobody', user: { token: 'none' } }],
    contexts: [{ name: 'nowhere', context: { cluster: 'nowhere', user: 'nobody' } }],
    'current-context': 'nowhere',
  };
}

/** Node writes the cache for its owner alone; in the image root owns it and nobody may change it. */
async function makeReadable(folder: string): Promise<void> {
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    await chmod(join(entry.parentPath, entry.name), entry.isDirectory() ? 0o755 : 0o644);
  }
}
