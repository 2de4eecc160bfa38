import type { Permission } from '../../function/permissions.ts';
import type { Tick, Watch } from '../../function/triggers.ts';
import {
  apiVersion,
  guessedPlural,
  mutatingWebhooks,
  namespaces,
  nodes,
  validatingWebhooks,
  type Resource,
} from '../../kube/model/resource.ts';
import { distinct, type Installation } from './installation.ts';
import { labelsOf, partName } from '../../function/names.ts';
import type { Manifest } from '../../kube/model/manifest.ts';
import { accountWith } from './rights.ts';

/** The event attribute that names the source: a function's own, or the shared one. */
export const stamp = 'fnsource';
export const shared = 'shared';

/**
 * Cluster-scoped kinds that exist in every cluster: one watch serves all functions. The shared source also serves a
 * function that is installed alone, so it must not watch kinds that may be missing.
 */
const sharedKinds: readonly Resource[] = [namespaces, nodes, mutatingWebhooks, validatingWebhooks];

/** Whether the shared source sends the events of these watches, which are all of one kind and mode. */
export function areShared(watches: readonly Watch[]): boolean {
  return watches.some(
    ({ resource, mode, selector }) =>
      mode === 'Reference' && selector === undefined && sharedKinds.some((kind) => isSame(kind, resource)),
  );
}

function isSame(one: Resource, other: Resource): boolean {
  return one.kind === other.kind && one.group === other.group;
}

/** The shared source for the watches of all functions. Watches of other kinds are left out. */
export function sharedSource(watches: readonly Watch[], site: Installation): Manifest[] {
  const groups = byKind(watches).filter(areShared);
  const place: Placement = { namespace: site.namespace, everywhere: false, mode: 'Reference' };
  const wanted = sharedKinds
    .filter((kind) => groups.some((group) => group.some(({ resource }) => isSame(kind, resource))))
    .map((resource) => ({ watch: { resource }, place }));
  return sourcesAt(shared, wanted, site);
}

/** Groups the watches that share a Trigger: an event that two of them match must arrive once. */
export function byKind(watches: readonly Watch[]): (readonly Watch[])[] {
  return [...Map.groupBy(watches, kindOf).values()];
}

export function kindOf({ resource, mode }: Watch): string {
  return `${resource.plural}.${resource.group}-${mode.toLowerCase()}`;
}

/**
 * ApiServerSources for the watches that only this function has, each with an account that may read them. There are as
 * few and as narrow ones as Knative allows: every source is a Deployment, and one that selects all namespaces restarts
 * whenever a namespace is created or deleted. So only watches of the whole cluster are in such a source.
 */
export function sourcesOf(name: string, watches: readonly Watch[], site: Installation): Manifest[] {
  for (const { resource } of watches) {
    refuseUnwatchable(resource);
  }
  const own = byKind(watches).filter((group) => !areShared(group));
  const placed = own
    .flat()
    .flatMap((watch) => placementsOf(watch, site.namespace).map((place): Placed => ({ watch, place })));
  return sourcesAt(name, placed, site);
}

function sourcesAt(name: string, placed: readonly Placed[], site: Installation): Manifest[] {
  const accounts = Map.groupBy(placed, ({ place }) => place.namespace);
  const sources = Map.groupBy(placed, ({ place }) => JSON.stringify(place));
  return [
    ...[...accounts].flatMap(([namespace, group]) =>
      accountWith({ name, part: 'source', namespace }, group.map(rightAt)),
    ),
    ...[...sources.values()].flatMap((group) =>
      group.slice(0, 1).map(({ place }) => sourceAt(name, place, { watches: group.map(({ watch }) => watch), site })),
    ),
  ];
}

/** The PingSource that ticks. */
export function tickSource(name: string, { schedule }: Tick, site: Installation): Manifest {
  return {
    apiVersion: 'sources.knative.dev/v1',
    kind: 'PingSource',
    metadata: { name: `${name}-tick`, namespace: site.namespace, labels: labelsOf(name, 'source') },
    spec: { schedule, timezone: 'Etc/UTC', ceOverrides: stampOf(name), sink: brokerSink(site, site.namespace) },
  };
}

type Watched = Pick<Watch, 'resource' | 'selector'>;

interface Placement {
  readonly namespace: string;
  /** Selects all namespaces. Not needed for cluster-scoped kinds, which any source sees. */
  readonly everywhere: boolean;
  readonly mode: Watch['mode'];
}

interface Placed {
  readonly watch: Watched;
  readonly place: Placement;
}

function placementsOf({ resource, scope, mode }: Watch, own: string): Placement[] {
  if (!resource.namespaced || scope === 'own') {
    return [{ namespace: own, everywhere: false, mode }];
  }
  return scope === 'cluster'
    ? [{ namespace: own, everywhere: true, mode }]
    : scope.namespaces.map((namespace) => ({ namespace, everywhere: false, mode }));
}

function rightAt({ watch: { resource }, place }: Placed): Permission {
  return readingRight(resource, place.everywhere || !resource.namespaced ? 'cluster' : 'own');
}

/** The right to watch a kind. */
export function readingRight({ group, plural }: Resource, scope: Permission['scope']): Permission {
  return { groups: [group], resources: [plural], verbs: ['get', 'list', 'watch'], scope };
}

function sourceAt(
  name: string,
  { namespace, everywhere, mode }: Placement,
  { watches, site }: { readonly watches: readonly Watched[]; readonly site: Installation },
): Manifest {
  return {
    apiVersion: 'sources.knative.dev/v1',
    kind: 'ApiServerSource',
    metadata: {
      name: `${name}${everywhere ? '-everywhere' : ''}-${mode.toLowerCase()}`,
      namespace,
      labels: labelsOf(name, 'source'),
    },
    spec: {
      mode,
      serviceAccountName: partName(name, 'source'),
      resources: resourcesOf(watches),
      ...(everywhere ? { namespaceSelector: {} } : {}),
      ceOverrides: stampOf(name),
      sink: brokerSink(site, namespace),
    },
  };
}

interface WatchedKind {
  readonly apiVersion: string;
  readonly kind: string;
  readonly selector?: object;
}

/** Each kind once. If one watch covers all objects, the selectors of others would only duplicate events. */
function resourcesOf(watches: readonly Watched[]): WatchedKind[] {
  const kinds = distinct(
    watches.map(({ resource, selector }) => ({
      apiVersion: apiVersion(resource),
      kind: resource.kind,
      ...(selector === undefined ? {} : { selector }),
    })),
  );
  return kinds.filter(
    (one) =>
      one.selector === undefined ||
      !kinds.some(
        (other) => other.selector === undefined && other.kind === one.kind && other.apiVersion === one.apiVersion,
      ),
  );
}

/** The Broker. Its namespace is given only if it differs, so that an overlay can move everything. */
function brokerSink({ broker, namespace }: Installation, from: string): object {
  const elsewhere = from === namespace ? {} : { namespace };
  return { ref: { apiVersion: 'eventing.knative.dev/v1', kind: 'Broker', name: broker, ...elsewhere } };
}

function stampOf(name: string): object {
  return { extensions: { [stamp]: name } };
}

/** An ApiServerSource that guesses a wrong plural watches nothing. */
function refuseUnwatchable({ kind, plural }: Resource): void {
  const guessed = guessedPlural(kind);
  if (guessed !== plural) {
    throw new Error(
      `could not watch ${plural}: an ApiServerSource looks for "${guessed}"; read it in the tick instead`,
    );
  }
}
