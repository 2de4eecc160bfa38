import type { Definition } from '../../../lib/function/definition.ts';
import { groupVersion, guessedPlural } from '../../../lib/kube/model/resource.ts';
import { formatSelector, requirements, type LabelSelector } from '../../../lib/kube/model/selector.ts';
import { standardInstallation } from '../../../lib/install/manifests/installation.ts';
import type { Manifest } from '../../../lib/kube/model/manifest.ts';
import type { Received } from '../../../lib/source/testing/recorder.ts';
import { createClient } from '../../../lib/sandbox/test/contract/client.ts';
import { expectCode, uniqueName } from '../../../lib/sandbox/test/contract/scratch.ts';
import type { Cluster } from '../parts/cluster.ts';
import { installationOf } from '../../support/account.ts';
import { tokenKubeconfig } from '../support/function.ts';
import { pathOf } from '../../support/manifests.ts';
import type { Running } from '../parts/processes.ts';
import { waitUntil } from '../parts/wait.ts';

/** An ApiServerSource, of which we read no more than the manifests write. */
export interface SourceManifest extends Manifest {
  readonly spec: {
    readonly mode: 'Reference' | 'Resource';
    readonly resources: readonly WatchedKind[];
    readonly namespaceSelector?: object;
    readonly ceOverrides?: object;
    readonly serviceAccountName: string;
  };
}

export interface WatchedKind {
  readonly apiVersion: string;
  readonly kind: string;
  readonly selector?: LabelSelector;
}

export interface AdapterOptions {
  readonly sink: URL;
  /** Path of a kubeconfig. Default: that of the account which the source names. */
  readonly kubeconfig?: string;
  /** Distinguishes adapters of one source. */
  readonly instance?: number;
}

/** The sources that bring a function its events. */
export function sourcesOf(definition: Definition): SourceManifest[] {
  return installationOf(definition).filter((manifest) => manifest.kind === 'ApiServerSource') as SourceManifest[];
}

/** Starts the real adapter with the environment that Knative's controller would derive from the source. */
export async function startAdapter(
  cluster: Cluster,
  source: SourceManifest,
  { sink, kubeconfig, instance = 0 }: AdapterOptions,
): Promise<Running> {
  const { metadata, spec } = source;
  const { site } = cluster;
  const { namespace = standardInstallation.namespace } = metadata;
  const account = { name: spec.serviceAccountName, namespace };
  return cluster.start({
    command: {
      name: `adapter-${metadata.name}-${instance}`,
      file: site.binary('receive-adapter'),
      args: ['-kubeconfig', kubeconfig ?? (await tokenKubeconfig(cluster, account))],
      env: {
        NAME: metadata.name,
        NAMESPACE: metadata.namespace ?? '',
        SYSTEM_NAMESPACE: 'knative-eventing',
        K_SINK: sink.href,
        K_SOURCE_CONFIG: JSON.stringify(adapterConfig(source)),
        K_CE_OVERRIDES: JSON.stringify(spec.ceOverrides ?? {}),
        K_LOGGING_CONFIG: '{}',
        K_OBSERVABILITY_CONFIG: '{}',
        PROFILING_PORT: String(site.base + 60 + cluster.running().length),
      },
    },
  });
}

function adapterConfig({ metadata, spec }: SourceManifest): object {
  return {
    namespaces: [metadata.namespace],
    allNamespaces: spec.namespaceSelector !== undefined,
    mode: spec.mode,
    resources: spec.resources.map(({ apiVersion, kind, selector }) => {
      const { group, version } = groupVersion(apiVersion);
      return {
        gvr: { Group: group, Version: version, Resource: guessedPlural(kind) },
        ...(selector === undefined ? {} : { selector: formatSelector(requirements(selector)) }),
      };
    }),
  };
}

/** What throw-away objects are called. */
export const probePrefix = 'probe-';

/** Whether an event is about an object that was only made to see whether events arrive. */
export function isProbe({ headers }: Received): boolean {
  return String(headers['ce-name']).startsWith(probePrefix);
}

/**
 * Waits until every watch of the sources works. An adapter does not report it: it logs before its first watch. So
 * throw-away objects are made until one of each kind arrives, and then all that were made after it.
 */
export async function untilWatching(
  cluster: Cluster,
  sources: readonly SourceManifest[],
  received: readonly Received[],
): Promise<void> {
  const client = createClient(cluster.access);
  for (const { metadata, spec } of sources) {
    for (const watched of spec.resources) {
      const names: string[] = [];
      await waitUntil(`${watched.kind} events of ${metadata.name}`, async () => {
        const probe = probeOf(watched, metadata.namespace ?? '');
        names.push(probe.metadata.name);
        const collection = pathOf(probe).replace(/\/[^/]+$/, '');
        expectCode(201, await client.call('POST', collection, { body: probe }));
        return names.some(hasArrived);
      });
      await waitUntil(`the last of ${metadata.name}`, () => hasArrived(names.at(-1) ?? ''));
    }

    function hasArrived(name: string): boolean {
      return received.some(({ headers }) => headers['ce-name'] === name && isFrom(spec.mode, headers));
    }
  }
  client.close();
}

function isFrom(mode: 'Reference' | 'Resource', headers: Received['headers']): boolean {
  return String(headers['ce-type']).startsWith(`dev.knative.apiserver.${mode === 'Reference' ? 'ref' : 'resource'}.`);
}

const clusterWide = new Set(['Namespace', 'MutatingWebhookConfiguration', 'ValidatingWebhookConfiguration']);

function probeOf({ apiVersion, kind, selector }: WatchedKind, namespace: string): Manifest {
  return {
    apiVersion,
    kind,
    metadata: {
      name: uniqueName(probePrefix.slice(0, -1)),
      ...(clusterWide.has(kind) ? {} : { namespace }),
      labels: selector?.matchLabels ?? {},
    },
    ...(kind === 'Ingress' ? { spec: { defaultBackend: { service: { name: 'none', port: { number: 80 } } } } } : {}),
  };
}
