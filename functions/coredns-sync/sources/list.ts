import { asFailure, Failure } from '../../../lib/base/failure.ts';
import type { Collection, Kube } from '../../../lib/kube/client.ts';
import { Refusal } from '../../../lib/kube/refusal.ts';
import { ingressClasses, namespaces, type Resource } from '../../../lib/kube/model/resource.ts';
import type { KubeObject } from '../../../lib/kube/model/wire.ts';
import type { Policy } from '../policy.ts';
import { newest } from '../shard/shard.ts';
import { isGone } from './definition.ts';
import { gateways } from './gateway.ts';
import { sourcesOf } from './index.ts';
import { ifLegible, partsOf, type Illegible } from './illegible.ts';
import { inPlaceOf, type Known } from './known.ts';
import { isNamedInScope } from './scope.ts';
import { emptyWorld, type Source, type World } from './source.ts';
import { sourceName, wantedBy, type Wanted } from './wanted.ts';

/** What all objects ask for, as of one moment for each list. */
export interface Listed {
  /** Only objects that concern us. */
  readonly wanted: readonly Wanted[];
  /** The newest version that any list was of. */
  readonly resourceVersion: string;
  readonly unread: readonly Unread[];
  /** Kinds that nobody defines: nothing of them is left. */
  readonly gone: readonly Gone[];
  /** Single objects that nobody can make sense of. */
  readonly illegible: readonly Illegible[];
}

export interface Gone {
  readonly kind: string;
  readonly failure: Failure;
}

/** A part of the sources that could not be read: what it claimed before stays. */
export interface Unread {
  readonly kind: string;
  /** Absent: everywhere. */
  readonly namespace: string | undefined;
  readonly failure: Failure;
  /** Why: `absent` when the cluster does not serve the kind in this version, or not at the moment. */
  readonly because: 'forbidden' | 'absent' | 'failed';
}

export async function listAll(kube: Kube, policy: Policy, known: Known): Promise<Listed> {
  const found = await listWorld(kube, policy);
  const scopes = policy.config.WATCH_NAMESPACES.length === 0 ? [undefined] : policy.config.WATCH_NAMESPACES;
  const parts: Part[] = [];
  for (const source of sourcesOf(policy)) {
    const listed: Read[] = [];
    for (const namespace of scopes) {
      listed.push(await listOne(kube, { source, namespace, policy, found, known }));
    }
    const gone = await goneAmong(kube, source, listed);
    parts.push(...(gone === undefined ? listed : [{ gone }]));
  }
  const { legible, illegible } = partsOf(parts.flatMap((part) => ('items' in part ? part.items : [])));
  return {
    wanted: legible,
    illegible,
    resourceVersion: parts.reduce((last, part) => ('items' in part ? newest(last, part.resourceVersion) : last), '0'),
    unread: parts.flatMap((part) => ('unread' in part ? part.unread : [])),
    gone: parts.flatMap((part) => ('gone' in part ? part.gone : [])),
  };
}

type Read = Collection<Wanted | Illegible> | { readonly unread: Unread };
type Part = Read | { readonly gone: Gone };

interface Listing {
  readonly source: Source;
  readonly namespace: string | undefined;
  readonly policy: Policy;
  readonly found: Found;
  readonly known: Known;
}

/** What objects refer to, and which of it could not be read. */
interface Found {
  readonly world: World;
  readonly failures: Partial<Readonly<Record<keyof World, Failure>>>;
}

/** What all kinds are judged by. */
const metadata = {
  namespace: true,
  name: true,
  uid: true,
  resourceVersion: true,
  creationTimestamp: true,
  deletionTimestamp: true,
  annotations: true,
} as const;

async function listOne(kube: Kube, listing: Listing): Promise<Read> {
  const { source, namespace, policy, found } = listing;
  const needed = [...source.refersTo, ...(policy.namespaceSelector === undefined ? [] : (['namespaces'] as const))];
  const [failure] = needed.flatMap((kind) => found.failures[kind] ?? []);
  const outcome = failure ?? (await read(kube, listing));
  if (!(outcome instanceof Failure)) {
    return outcome;
  }
  return { unread: { kind: source.resource.kind, namespace, failure: outcome, because: reasonOf(outcome) } };
}

/** Asked once, however many namespaces are watched: a kind is defined for all of them. */
async function goneAmong(kube: Kube, source: Source, parts: readonly Read[]): Promise<Gone | undefined> {
  const unread = parts.flatMap((part) => ('unread' in part ? part.unread : []));
  const absent = unread.find(({ because }) => because === 'absent');
  return absent !== undefined && (await isGone(kube, source)) ? absent : undefined;
}

/** Keeps of each object only what it asks for: the objects themselves would fill the memory. */
async function read(
  kube: Kube,
  { source, namespace, policy, found: { world }, known }: Listing,
): Promise<Collection<Wanted | Illegible> | Failure> {
  try {
    return await kube.pick(source.resource, { namespace, fields: { metadata, ...source.reads } }, (object) => {
      const { namespace: place = '', name = '' } = object.metadata ?? {};
      return isNamedInScope(policy, source, place, name)
        ? ifLegible(
            () => sourceName(source, { namespace: place, name }),
            () => {
              const wanted = wantedBy(source, object, { policy, world });
              return wanted.record === undefined ? undefined : inPlaceOf(wanted, known);
            },
          )
        : undefined;
    });
  } catch (error) {
    return knownFailure(error);
  }
}

/** Each list only where the settings make it matter; one that fails spoils only those that need it. */
async function listWorld(kube: Kube, policy: Policy): Promise<Found> {
  const { watchesGateways, namespaceSelector, config } = policy;
  const failures: Partial<Record<keyof World, Failure>> = {};
  async function part<Kind extends keyof World>(
    kind: Kind,
    matters: boolean,
    read: () => Promise<World[Kind]>,
  ): Promise<World[Kind]> {
    try {
      return matters ? await read() : emptyWorld[kind];
    } catch (error) {
      failures[kind] = knownFailure(error);
      return emptyWorld[kind];
    }
  }
  const world = {
    gateways: await part('gateways', watchesGateways, async () => byKey(await kube.list(gateways))),
    namespaces: await part('namespaces', watchesGateways || namespaceSelector !== undefined, () => labelled(kube)),
    classes: await part('classes', config.UNCLASSED === 'default', async () => (await kube.list(ingressClasses)).items),
  };
  return { world, failures };
}

async function labelled(kube: Kube): Promise<World['namespaces']> {
  return byName(await kube.listMetadata(namespaces as Resource));
}

function byKey<T extends KubeObject>({ items }: Collection<T>): ReadonlyMap<string, T> {
  return new Map(items.map((item) => [`${item.metadata?.namespace ?? ''}/${item.metadata?.name ?? ''}`, item]));
}

function byName<T extends KubeObject>({ items }: Collection<T>): ReadonlyMap<string, T> {
  return new Map(items.map((item) => [item.metadata?.name ?? '', item]));
}

function reasonOf(failure: Failure): Unread['because'] {
  const code = failure instanceof Refusal ? failure.code : undefined;
  return code === 403 ? 'forbidden' : code === 404 ? 'absent' : 'failed';
}

/** A bug is no trouble with the cluster. */
function knownFailure(error: unknown): Failure {
  const failure = asFailure(error);
  if (failure.kind === 'bug') {
    throw error;
  }
  return failure;
}
