import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { bundle } from '../../../deploy/bundle.ts';
import { launch } from '../../../deploy/launch.ts';
import { memoryOf } from '../../../lib/install/manifests/container.ts';
import { createCertificates } from '../../../lib/sandbox/http/certificates.ts';
import hostCensus from '../../functions/host-census/index.ts';
import { mintAuthority, mintPair, mountPair } from '../../tls/mint.ts';
import { benchProgram, start, type Program } from './program.ts';

/** A bundled function and the API server that it asks, for as long as a bench takes. */
export interface Site {
  /** The function as it is shipped, with the settings given in addition. */
  readonly functionProgram: (environment?: Program['environment']) => Program;
  /** Another program, started as a function is. */
  readonly asShipped: (program: Program) => Program;
  readonly apiUrl: URL;
  readonly kubeconfigFile: string;
  readonly caFile: string;
  /** A directory with the certificate of the function's webhook, as a Secret is mounted. */
  readonly certificates: string;
  readonly close: () => Promise<void>;
}

/** The name by which the API server would call the function. */
export const webhookHost = 'host-census-webhook.default.svc';

const folder = resolve(import.meta.dirname, '../../functions/host-census');

export async function openSite(): Promise<Site> {
  const directory = await mkdtemp(join(tmpdir(), 'kube-reflex-bench-'));
  function file(name: string): string {
    return join(directory, name);
  }
  const { ca, certificate, key } = await createCertificates(new Date());
  await Promise.all([
    writeFile(file('ca.crt'), ca),
    writeFile(file('tls.crt'), certificate),
    writeFile(file('tls.key'), key, { mode: 0o600 }),
  ]);
  const api = await start(benchProgram('api.cjs', { CERT_FILE: file('tls.crt'), KEY_FILE: file('tls.key') }));
  const [apiUrl] = api.urls;
  if (apiUrl === undefined) {
    throw new Error('the API server reports no address');
  }
  await writeFile(file('kubeconfig'), JSON.stringify(kubeconfig(apiUrl, file('ca.crt'))));
  const built = await bundle(folder, directory);
  const { flags, environment } = launch({ compileCache: file('cache') });
  function asShipped(program: Program): Program {
    return { ...program, flags, environment: { ...environment, ...program.environment } };
  }
  const settings = {
    ...memoryOf(hostCensus.scaling),
    KUBECONFIG: file('kubeconfig'),
    PORT: '0',
    TLS_PORT: '0',
    DRAIN_SECONDS: '0',
  };
  return {
    functionProgram: (extra = {}) => asShipped({ file: built.file, environment: { ...settings, ...extra } }),
    asShipped,
    apiUrl,
    kubeconfigFile: file('kubeconfig'),
    caFile: file('ca.crt'),
    certificates: await webhookCertificates(file('webhook'), webhookHost),
    close: async () => {
      await api.stop();
      await rm(directory, { recursive: true });
    },
  };
}

/** Writes a certificate for the webhook, good for a day, and the authority behind it. Returns the directory. */
export async function webhookCertificates(directory: string, host: string): Promise<string> {
  const now = new Date();
  const pair = await mintPair(await mintAuthority(now, 1), { now, host, days: 1 });
  await mkdir(directory, { recursive: true });
  mountPair(directory, pair);
  return directory;
}

/** As JSON, which the bundle reads without its YAML parser: like the mounted files of a pod. */
function kubeconfig(server: URL, caFile: string): unknown {
  return {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'bench', cluster: { server: server.origin, 'certificate-authority': caFile } }],
    users: [{ name: 'bench', user: { token: 'bench' } }],
    contexts: [{ name: 'bench', context: { cluster: 'bench', user: 'bench' } }],
    'current-context': 'bench',
  };
}
