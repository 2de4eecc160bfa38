import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';
import { coreConfigMap, corefile } from '../../../functions/coredns-sync/sandbox/coredns.ts';
import { ownFunctions } from '../../../lib/cli/functions.ts';
import type { Finding } from '../../../lib/runtime/doctor/finding.ts';
import { createClient } from '../../../lib/sandbox/test/contract/client.ts';
import { startCluster, type Cluster } from '../parts/cluster.ts';
import { accepted } from '../parts/kubelet/accepted.ts';
import { startKubelet } from '../parts/kubelet/kubelet.ts';
import { openNetwork } from '../parts/kubelet/network.ts';
import { waitUntil } from '../parts/wait.ts';

const execute = promisify(execFile);
const root = join(import.meta.dirname, '../../..');
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

/** The overlay as its comments describe: a copy of one's own, with Kubernetes alone. */
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
    await untilContent(command, env);
  } else {
    await execute('sh', ['-c', command], { cwd: root, env });
  }
}

/** Until the doctor reports no problem and a success of every function: what it can't see is no error to it. */
async function untilContent(command: string, env: NodeJS.ProcessEnv): Promise<void> {
  const names = (await ownFunctions()).map(({ definition }) => definition.name);
  let last: CommandResult | undefined;
  try {
    await waitUntil(
      'the doctor is content',
      async () => {
        last = await resultOf(`${command} --silent -- --json`, env);
        return last.code === 0 && names.every((name) => isSeenWell(name, last?.stdout ?? '[]'));
      },
      240_000,
    );
  } catch (error) {
    throw new Error(`${String(error)}\n${last?.stdout ?? ''}${last?.stderr ?? ''}`, { cause: error });
  }
}

/** It gets its ticks, and does well with them. */
function isSeenWell(name: string, json: string): boolean {
  const findings = (JSON.parse(json) as readonly Finding[]).filter((finding) => finding.function === name);
  return ['last success', 'ticks'].every((check) => {
    const states = findings.filter((finding) => finding.check === check).map(({ state }) => state);
    return states.length > 0 && states.every((state) => state === 'ok');
  });
}

interface CommandResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

async function resultOf(command: string, env: NodeJS.ProcessEnv): Promise<CommandResult> {
  try {
    return { code: 0, ...(await execute('sh', ['-c', command], { cwd: root, env })) };
  } catch (error) {
    return error as CommandResult; // an error of the command's own, with all of this in it
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
