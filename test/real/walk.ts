import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';
import { coreConfigMap, corefile } from '../../functions/coredns-sync/sandbox/coredns.ts';
import { createClient } from '../contract/api/client.ts';
import { startCluster, type Cluster } from './cluster.ts';
import { accepted } from './kubelet/accepted.ts';
import { startKubelet } from './kubelet/kubelet.ts';
import { openNetwork } from './kubelet/network.ts';
import { waitUntil } from './wait.ts';

const execute = promisify(execFile);
const root = join(import.meta.dirname, '../..');
const rules = '/api/v1/namespaces/kube-system/configmaps/coredns-ingress-sync-rewrite-rules';

/** A cluster in which somebody has walked the way of the README. */
export interface Walked extends AsyncDisposable {
  readonly cluster: Cluster;
  /** Each command in order, and what came of it, with the seconds that it took. */
  readonly steps: readonly Step[];
}

export interface Step {
  readonly what: string;
  readonly seconds: number;
}

/**
 * From the kubeconfig of a real API server to functions that react, without Knative, by the commands of the README under
 * "Deploying". There are no containers here: `docker build` is what the Dockerfile runs, and a node of ours runs it.
 */
export async function walkPlain(): Promise<Walked> {
  const running = new AsyncDisposableStack();
  const steps: Step[] = [];
  try {
    const directory = mkdtempSync(join(tmpdir(), 'kube-reflex-walk-'));
    running.defer(() => rmSync(directory, { recursive: true, force: true }));
    const network = running.use(await openNetwork(directory));
    const parts = ['kube-controller-manager', 'kube-scheduler'] as const;
    const cluster = running.use(await startCluster({ parts, flags: { 'kube-apiserver': network.flags } }));
    await addDns(cluster);
    const overlay = copyOverlay(directory);
    const app = join(directory, 'app');
    for (const command of [...commandsUnder('Deploying'), ...commandsUnder('Try it', 1).filter(isChange)]) {
      const begun = performance.now();
      if (command.startsWith('docker push')) {
        running.use(await startKubelet({ cluster, network, app }));
      } else {
        await perform(command.replace('deploy/overlay', overlay), { app, kubeconfig: cluster.site.kubeconfig });
      }
      steps.push({ what: command, seconds: (performance.now() - begun) / 1000 });
    }
    steps.push(await untilRules(cluster));
    return { cluster, steps, [Symbol.asyncDispose]: () => running.disposeAsync() };
  } catch (error) {
    await running.disposeAsync();
    throw error;
  }
}

/** The lines of a block of commands in the README, without what they say beside. */
function commandsUnder(title: string, block = 0): readonly string[] {
  const readme = readFileSync(join(root, 'README.md'), 'utf8');
  const section = readme.slice(readme.indexOf(`\n## ${title}\n`));
  const [, text = ''] = [...section.matchAll(/```sh\n([^]*?)```/g)][block] ?? [];
  return text.split('\n').flatMap((line) => line.replace(/\s+#.*/, '') || []);
}

/** Of what one can try in the sandbox: it makes something happen. */
function isChange(command: string): boolean {
  return /^kubectl .*create /.test(command);
}

/** What any cluster has: the configuration of its DNS. */
async function addDns({ access }: Cluster): Promise<void> {
  const client = createClient(access);
  const path = '/api/v1/namespaces/kube-system/configmaps';
  accepted('the Corefile', await client.call('POST', path, { body: coreConfigMap(corefile) }));
  client.close();
}

/** The overlay as its comments tell: a copy of one's own, with Kubernetes alone. */
function copyOverlay(directory: string): string {
  const shipped = readFileSync(join(root, 'deploy/overlay/kustomization.yaml'), 'utf8');
  const overlay = join(directory, 'overlay');
  mkdirSync(overlay);
  const plain = relative(overlay, join(root, 'deploy/plain'));
  writeFileSync(join(overlay, 'kustomization.yaml'), shipped.replace('../../knative', plain));
  return overlay;
}

interface Reader {
  readonly app: string;
  readonly kubeconfig: string;
}

async function perform(command: string, { app, kubeconfig }: Reader): Promise<void> {
  const env = { ...process.env, KUBECONFIG: kubeconfig };
  if (command.startsWith('docker build')) {
    await execute(process.execPath, ['deploy/build.js', '--out', app], { cwd: root });
    await execute(process.execPath, ['deploy/warm.ts', app], { cwd: root });
  } else if (command === 'npm run doctor') {
    await waitUntil('the doctor finds nothing to mend', () => succeeds(command, env), 240_000);
  } else {
    await execute('sh', ['-c', command], { cwd: root, env });
  }
}

async function succeeds(command: string, env: NodeJS.ProcessEnv): Promise<boolean> {
  try {
    await execute('sh', ['-c', command], { cwd: root, env });
    return true;
  } catch {
    return false;
  }
}

async function untilRules({ access }: Cluster): Promise<Step> {
  const begun = performance.now();
  const client = createClient(access);
  await waitUntil('the rules of the new Ingress', async () => {
    const { body } = await client.call('GET', rules);
    return JSON.stringify(body.data ?? {}).includes('hello.example.com');
  });
  client.close();
  return { what: 'its host is among the rules of CoreDNS', seconds: (performance.now() - begun) / 1000 };
}
