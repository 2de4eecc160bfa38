import { coreConfigMap, coreDeployment, corefile } from '../../functions/coredns-sync/sandbox/coredns.ts';
import { configMaps, deployments, ingresses, namespaces, type Deployment } from '../../lib/kube/model/resource.ts';
import { startSandbox, type Sandbox } from '../../lib/sandbox/sandbox.ts';
import { startShipped, type Shipped } from '../../functions/coredns-sync/test/shipped.ts';
import { ingressOf } from '../../functions/coredns-sync/test/world.ts';
import { binaryEvent, send } from '../support/http.ts';
import { median, type Bar, type Figure } from './measure/figure.ts';

export const about = 'coredns-sync with 1,000 and 20,000 Ingresses: what one more Ingress costs, and a full pass';

const sizes = [1000, 20_000] as const;
const events = 200;
/**
 * What an event costs the Go operator coredns-ingress-sync at 20,000 Ingresses, measured once, and on a real API server: that
 * takes longer to answer than the sandbox here, so that only a large distance says something.
 */
const peer = { ms: 232, cpuMs: 199 } as const;
/** Full passes of one process: the garbage of one must not add up with that of the next. */
const passes = 5;

interface Measured {
  readonly ms: readonly number[];
  readonly cpuMs: number;
  readonly calls: number;
  readonly kib: number;
  readonly peakMb: number;
}

export async function run(): Promise<readonly Figure[]> {
  const [small, large] = [await measure(sizes[0]), await measure(sizes[1])];
  const [middles, slowest] = [[large, small].map(({ ms }) => median(ms)), [large, small].map(({ ms }) => p99(ms))];
  return [
    flat('event to committed rules, median', middles, 'ms', { atMost: 1.5 }),
    flat('event to committed rules, p99', slowest, 'ms'),
    flat('CPU of an event', [large.cpuMs, small.cpuMs], 'ms', { atMost: 1.5 }),
    flat('KiB moved by an event', [large.kib, small.kib], 'KiB', { atMost: 1.5 }),
    againstPeer('event to committed rules at 20,000, median', median(large.ms), peer.ms, 0.25),
    againstPeer('CPU of an event at 20,000', large.cpuMs, peer.cpuMs, 0.1),
    count('calls of an event at 20,000', large.calls, 8, `${small.calls.toFixed(1)} at 1,000`),
    count('KiB moved by an event at 20,000', large.kib, 256, `${small.kib.toFixed(0)} KiB at 1,000`),
    {
      what: `most memory of ${passes} full passes at 20,000`,
      value: large.peakMb,
      unit: 'MB',
      bar: { atMost: 150 },
      measured: `${small.peakMb.toFixed(0)} MB at 1,000`,
    },
  ];
}

function p99(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length * 0.99)] ?? Number.NaN;
}

/** What should cost the same whatever the cluster holds. */
function flat(what: string, [large = NaN, small = NaN]: readonly number[], of: 'ms' | 'KiB', bar?: Bar): Figure {
  return {
    what: `${what}: 20,000 against 1,000`,
    value: large / small,
    unit: '×',
    ...(bar === undefined ? {} : { bar }),
    measured: `${large.toFixed(1)} / ${small.toFixed(1)} ${of}`,
  };
}

function againstPeer(what: string, own: number, itsMs: number, atMost: number): Figure {
  return {
    what: `${what}: against the Go operator`,
    value: own / itsMs,
    unit: '×',
    bar: { atMost },
    measured: `${own.toFixed(1)} ms (≤ ${(itsMs * atMost).toFixed(1)}) / ${itsMs} ms`,
  };
}

function count(what: string, value: number, atMost: number, measured: string): Figure {
  return { what, value, unit: '', bar: { atMost }, measured };
}

async function measure(size: number): Promise<Measured> {
  const sandbox = await startSandbox({ controllers: false, historyLimit: 100 });
  const program = await startShipped(sandbox);
  try {
    const { url } = program;
    await fill(sandbox, size, program);
    for (let pass = 0; pass < passes; pass += 1) {
      await program.tick();
    }
    const { peakMb } = await program.usage();
    await timeEvent(sandbox, url, 'warm');
    const before = await figures(url);
    const { cpuMs } = await program.usage();
    const ms: number[] = [];
    for (let index = 0; index < events; index += 1) {
      ms.push(await timeEvent(sandbox, url, `new-${index}`));
    }
    const after = await figures(url);
    return {
      ms,
      peakMb,
      cpuMs: ((await program.usage()).cpuMs - cpuMs) / events,
      calls: (after.calls - before.calls) / events,
      kib: (after.bytes - before.bytes) / events / 1024,
    };
  } finally {
    await program[Symbol.asyncDispose]();
    await sandbox.close();
  }
}

/** CoreDNS mounts all shards before there are Ingresses. */
async function fill({ api }: Sandbox, size: number, { tick }: Shipped): Promise<void> {
  for (const name of ['kube-reflex', 'shop']) {
    await api.create(namespaces, { metadata: { name } });
  }
  await api.create(configMaps, coreConfigMap(corefile));
  await api.create(deployments, coreDeployment);
  await tick();
  const coredns = structuredClone(api.get(deployments, 'coredns', 'kube-system'));
  const { generation: observedGeneration = 1 } = coredns?.metadata ?? {};
  const status = { observedGeneration, replicas: 2, updatedReplicas: 2, readyReplicas: 2, availableReplicas: 2 };
  await api.update(deployments, { ...coredns, status } as Deployment, { subresource: 'status' });
  await tick();
  for (let index = 0; index < size; index += 1) {
    await api.create(ingresses, ingressOf(`web-${index}`, [`host-${index}.shop.example.com`]));
  }
}

/** Milliseconds from the event of a new Ingress to its answer, which says that the rules are written. */
async function timeEvent({ api }: Sandbox, url: URL, name: string): Promise<number> {
  await api.create(ingresses, ingressOf(name, [`${name}.shop.example.com`]));
  const about = { kind: 'Ingress', apiVersion: 'networking.k8s.io/v1', namespace: 'shop', name };
  const started = performance.now();
  const { status } = await send(url, binaryEvent({ type: 'dev.knative.apiserver.ref.add', ...about }));
  if (status !== 204) {
    throw new Error(`the event about ${name} was answered with ${status}`);
  }
  return performance.now() - started;
}

async function figures(url: URL): Promise<{ readonly calls: number; readonly bytes: number }> {
  const text = await (await fetch(new URL('/metrics', url))).text();
  function sum(metric: string): number {
    const lines = text.split('\n').filter((line) => line.startsWith(`${metric}{`));
    return lines.reduce((total, line) => total + Number(line.slice(line.lastIndexOf(' '))), 0);
  }
  return { calls: sum('kube_reflex_api_calls_total'), bytes: sum('kube_reflex_api_bytes_total') };
}
