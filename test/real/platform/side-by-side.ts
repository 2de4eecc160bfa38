import { isDeepStrictEqual } from 'node:util';
import { pino } from 'pino';
import { clusterAccess } from '../../../lib/kube/access.ts';
import { configMaps, ingresses, namespaces } from '../../../lib/kube/model/resource.ts';
import { createTransport } from '../../../lib/kube/transport.ts';
import { startSource } from '../../../lib/source/source.ts';
import { startRecorder, type Received, type Recorder } from '../../../lib/source/testing/recorder.ts';
import { startAdapter, untilWatching, type SourceManifest } from './adapter.ts';
import { churnPrefix, selected } from './churn.ts';
import type { Cluster } from '../parts/cluster.ts';
import { waitUntil } from '../parts/wait.ts';

export const modes = ['Reference', 'Resource'] as const;
export type Mode = (typeof modes)[number];

/** What two sources that watch the same have sent, each to a sink of its own. */
export interface Pair {
  readonly mode: Mode;
  readonly ours: Recorder;
  readonly theirs: Recorder;
}

/** Our event source and the real adapters, both at work in both modes. */
export interface SideBySide extends AsyncDisposable {
  readonly pairs: readonly Pair[];
  /** Waits until both have sent the event of an object created now, and so every event before it. */
  readonly caughtUp: () => Promise<void>;
  readonly freezeAdapters: () => void;
  readonly thawAdapters: () => void;
}

const namespace = 'default';

/** Resolves when all of them watch. */
export async function startSideBySide(cluster: Cluster, kubeconfig: string): Promise<SideBySide> {
  const pairs = await Promise.all(
    modes.map(async (mode) => ({ mode, ours: await startRecorder(), theirs: await startRecorder() })),
  );
  const transport = createTransport(clusterAccess(kubeconfig));
  const source = await startSource({
    transport,
    namespace,
    log: pino({ level: 'silent' }),
    pacing: { reconnect: { firstMs: 100, longestMs: 1000 } },
    subscriptions: pairs.map(({ mode, ours }) => ({
      name: mode.toLowerCase(),
      sink: ours.url,
      watches: [
        { resource: ingresses, mode, scope: 'cluster' },
        { resource: configMaps, mode, scope: 'cluster', selector: { matchLabels: selected } },
        { resource: namespaces, mode, scope: 'cluster' },
      ],
    })),
  });
  const adapters = await Promise.all(
    pairs.map(({ mode, theirs }) => startAdapter(cluster, sourceOf(mode), { sink: theirs.url, kubeconfig })),
  );

  async function caughtUp(): Promise<void> {
    for (const { mode, ours, theirs } of pairs) {
      await untilWatching(cluster, [sourceOf(mode)], theirs.received);
      await untilWatching(cluster, [sourceOf(mode)], ours.received);
    }
    await waitUntil('our source', () => source.waiting() === 0);
  }

  await caughtUp();
  return {
    pairs,
    caughtUp,
    freezeAdapters: () => adapters.forEach((adapter) => adapter.signal('SIGSTOP')),
    thawAdapters: () => adapters.forEach((adapter) => adapter.signal('SIGCONT')),
    [Symbol.asyncDispose]: async () => {
      await Promise.all(adapters.map((adapter) => adapter.stop()));
      await source.close();
      transport.close();
      await Promise.all(pairs.flatMap(({ ours, theirs }) => [ours.close(), theirs.close()]));
    },
  };
}

function sourceOf(mode: Mode): SourceManifest {
  return {
    apiVersion: 'sources.knative.dev/v1',
    kind: 'ApiServerSource',
    metadata: { name: `side-by-side-${mode.toLowerCase()}`, namespace },
    spec: {
      mode,
      serviceAccountName: 'default',
      namespaceSelector: {},
      resources: [
        { apiVersion: 'networking.k8s.io/v1', kind: 'Ingress' },
        { apiVersion: 'v1', kind: 'ConfigMap', selector: { matchLabels: selected } },
        { apiVersion: 'v1', kind: 'Namespace' },
      ],
    },
  };
}

/** An event without what is new in each send and without what is the HTTP client's own. */
export interface EventContent {
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly data: unknown;
}

const perSend = new Set(['ce-id', 'ce-time']);

/** The events about the churn's objects of one kind, in order. */
export function eventsOf(kind: string, received: readonly Received[]): EventContent[] {
  return received
    .filter(({ headers }) => headers['ce-kind'] === kind && String(headers['ce-name']).startsWith(churnPrefix))
    .map(({ headers, object }) => ({
      attributes: Object.fromEntries(
        Object.entries(headers).filter(
          ([name]) =>
            !perSend.has(name) && (name.startsWith('ce-') || name === 'content-type' || name === 'kn-namespace'),
        ),
      ),
      data: object,
    }));
}

/** The first difference between two lists of events; `undefined` if there is none. */
export function firstDifference(ours: readonly EventContent[], theirs: readonly EventContent[]): object | undefined {
  const length = Math.max(ours.length, theirs.length);
  const index = Array.from({ length }).findIndex((_, at) => !isDeepStrictEqual(ours[at], theirs[at]));
  return index < 0 ? undefined : { index, ours: ours[index], theirs: theirs[index] };
}
