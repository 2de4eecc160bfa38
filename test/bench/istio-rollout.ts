import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { bundle } from '../../deploy/bundle.ts';
import { launch } from '../../deploy/launch.ts';
import istioRollout from '../../functions/istio-rollout/index.ts';
import { injectorConfigMap, revisionWebhooks } from '../../functions/istio-rollout/sandbox/istio.ts';
import { configMaps, mutatingWebhooks, namespaces, type ConfigMap } from '../../lib/kube/model/resource.ts';
import { memoryOf } from '../../lib/install/manifests/container.ts';
import { systemClock } from '../../lib/sandbox/model/clock.ts';
import { startSandbox, type Sandbox } from '../../lib/sandbox/sandbox.ts';
import { binaryEvent, type Event } from '../support/http.ts';
import { startInjector, type Counts, type Injector } from '../../functions/istio-rollout/test/injector/injector.ts';
import type { Figure } from './measure/figure.ts';
import { expectStatus } from './measure/load.ts';
import { fillMesh, type MeshSize } from './measure/mesh.ts';
import { start, type Started } from './measure/program.ts';

export const about = 'istio-rollout: a scan of 1,000 workloads with 10 pods each, against a stub injector over TLS';

const size: MeshSize = { namespaces: 20, workloads: 1_000, podsEach: 10 };
const release = { revision: 'default', tag: '1.29.0' };
const proxy = { revision: release.revision, image: `docker.io/istio/proxyv2:${release.tag}` };
const hour = 3_600_000;

/** The operator that this function replaces, on the same task: one probe and one TLS connection for each pod. */
const peer = { seconds: 39.9, cpuSeconds: 16, probes: 10_000, peakMb: 920 };

/** What one scan cost. */
interface Cost extends Counts {
  readonly seconds: number;
  readonly cpuSeconds: number;
  readonly peakMb: number;
}

export async function run(): Promise<readonly Figure[]> {
  const directory = await mkdtemp(join(tmpdir(), 'kube-reflex-bench-'));
  const injector = await startInjector({ ...proxy, delayMs: 1 }); // long enough to see how many come at once
  const sandbox = await openMesh(injector);
  const fn = await startFunction(sandbox, directory);
  try {
    const fresh = await scan({ sandbox, injector, fn }, { type: 'dev.knative.sources.ping' });
    await touchControlPlane(sandbox);
    const { name = '', namespace = '' } = injectorConfigMap(release).metadata ?? {};
    const event = { type: 'dev.knative.apiserver.ref.update', apiVersion: 'v1', kind: 'ConfigMap', namespace, name };
    const whole = await scan({ sandbox, injector, fn }, event);
    return figuresOf(fresh, whole);
  } finally {
    await fn.stop();
    await sandbox.close();
    await injector.close();
    await rm(directory, { recursive: true });
  }
}

function figuresOf(fresh: Cost, whole: Cost): readonly Figure[] {
  const costs = `${whole.seconds.toFixed(1)} s, ${whole.cpuSeconds.toFixed(1)} s CPU`;
  return [
    {
      what: 'probes when the control plane is older than every pod',
      value: fresh.probes,
      unit: '',
      bar: { atMost: 0 },
      measured: `${fresh.seconds.toFixed(1)} s, ${fresh.cpuSeconds.toFixed(1)} s CPU`,
    },
    {
      what: 'probes after the control plane changed',
      value: whole.probes,
      unit: '',
      bar: { atMost: size.workloads },
      measured: `the Go operator: ${peer.probes}`,
    },
    {
      what: 'TLS handshakes for them',
      value: whole.handshakes,
      unit: '',
      bar: { atMost: 8 },
      measured: `${whole.peak} probes at once at most; the Go operator: ${peer.probes} handshakes, 1 at once`,
    },
    {
      what: 'time against the Go operator',
      value: whole.seconds / peer.seconds,
      unit: '×',
      bar: { atMost: 0.1 },
      measured: `${costs} / ${peer.seconds} s`,
    },
    {
      what: 'CPU against the Go operator',
      value: whole.cpuSeconds / peer.cpuSeconds,
      unit: '×',
      bar: { atMost: 0.1 },
      measured: `${costs} / ${peer.cpuSeconds} s CPU`,
    },
    {
      what: 'most memory held',
      value: whole.peakMb,
      unit: 'MB',
      bar: { atMost: 256 },
      measured: `the Go operator: ${peer.peakMb} MB`,
    },
  ];
}

/** The control plane two hours old, the pods one hour: nothing is outdated, and no probe is needed to see it. */
async function openMesh({ clientConfig }: Injector): Promise<Sandbox> {
  let ageMs = 2 * hour;
  const clock = { ...systemClock, now: () => new Date(Date.now() - ageMs) };
  const sandbox = await startSandbox({ controllers: false, clock });
  const { api } = sandbox;
  for (const name of ['istio-system', 'kube-reflex']) {
    await api.create(namespaces, { metadata: { name } });
  }
  await api.create(configMaps, injectorConfigMap(release));
  ageMs = hour;
  await fillMesh(api, size, proxy);
  // Last, since this API server too asks the injector about every pod that is made.
  ageMs = 2 * hour;
  await api.create(mutatingWebhooks, revisionWebhooks(release.revision, clientConfig));
  ageMs = 0;
  return sandbox;
}

/** A change that outdates nothing, which only probes can detect. */
async function touchControlPlane({ api }: Sandbox): Promise<void> {
  const changed: ConfigMap = injectorConfigMap(release);
  await api.update(configMaps, {
    ...changed,
    data: { ...changed.data, config: 'policy: enabled\n# edited\n' },
  } as ConfigMap);
}

async function startFunction(sandbox: Sandbox, directory: string): Promise<Started> {
  const kubeconfig = join(directory, 'kubeconfig');
  await writeFile(kubeconfig, JSON.stringify(sandbox.kubeconfig), { mode: 0o600 });
  const { file } = await bundle(resolve(import.meta.dirname, '../../functions/istio-rollout'), directory);
  const { flags, environment } = launch({ compileCache: join(directory, 'cache') });
  const settings = {
    ...memoryOf(istioRollout.scaling),
    KUBECONFIG: kubeconfig,
    POD_NAMESPACE: 'kube-reflex',
    PORT: '0',
    DRAIN_SECONDS: '0',
    ISTIOD_CONFIG_READ_DELAY: '0s',
  };
  return start({ file, flags, environment: { ...environment, ...settings } });
}

interface Scene {
  readonly sandbox: Sandbox;
  readonly injector: Injector;
  readonly fn: Started;
}

/** From the event to the checkpoint that says that the scan is done. */
async function scan({ sandbox, injector, fn }: Scene, event: Event): Promise<Cost> {
  const [url] = fn.urls;
  if (url === undefined) {
    throw new Error('the function reports no address');
  }
  const counted = injector.counts();
  const { cpuMs } = await fn.usage();
  const started = performance.now();
  const done = nextScan(sandbox);
  await expectStatus(url, binaryEvent(event), 204);
  await done;
  const seconds = (performance.now() - started) / 1000;
  const usage = await fn.usage();
  const { probes, handshakes, peak } = injector.counts();
  return {
    probes: probes - counted.probes,
    handshakes: handshakes - counted.handshakes,
    peak,
    seconds,
    cpuSeconds: (usage.cpuMs - cpuMs) / 1000,
    peakMb: usage.peakMb,
  };
}

const patienceMs = 120_000;

/** Resolves when the state records one more scan, and none that is still due. */
function nextScan({ api }: Sandbox): Promise<void> {
  const { promise, resolve: done, reject } = Promise.withResolvers<undefined>();
  const before = scansOf(api.get(configMaps, 'istio-rollout-state', 'kube-reflex'));
  const timer = setTimeout(() => reject(new Error(`no scan within ${patienceMs / 1000} s`)), patienceMs);
  const end = api.subscribe(configMaps, ({ object }) => {
    if (object.metadata?.name === 'istio-rollout-state' && scansOf(object) > before) {
      done(undefined);
    }
  });
  return promise.finally(() => {
    clearTimeout(timer);
    end();
  });
}

function scansOf(state: ConfigMap | undefined): number {
  const { counters, pending } = state?.data ?? {};
  if (counters === undefined || pending !== undefined) {
    return 0;
  }
  const { value } = JSON.parse(counters) as { readonly value: Readonly<Record<string, number>> };
  return Object.entries(value).reduce((sum, [name, count]) => sum + (name.startsWith('scans') ? count : 0), 0);
}
