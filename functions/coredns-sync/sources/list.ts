import { asFailure, type Failure } from '../../../lib/function/failure.ts';
import type { Collection, Kube } from '../../../lib/kube/client.ts';
import { ingressClasses, namespaces, type Resource } from '../../../lib/kube/resource.ts';
import type { KubeObject } from '../../../lib/kube/wire.ts';
import type { Policy } from '../policy.ts';
import { newest } from '../shard.ts';
import { gateways } from './gateway.ts';
import { sourcesOf } from './index.ts';
import { isNamedInScope } from './scope.ts';
import { emptyWorld, type Source, type World } from './source.ts';
import { wantedBy, type Wanted } from './wanted.ts';

/** What all objects ask for, as of one moment for each list. */
export interface Listed {
  /** Only objects that concern us. */
  readonly wanted: readonly Wanted[];
  /** The newest version that any list was of. */
  readonly resourceVersion: string;
  readonly unread: readonly Unread[];
}

/** A part of the sources that could not be read: what it claimed before stays. */
export interface Unread {
  readonly kind: string;
  /** Absent: everywhere. */
  readonly namespace: string | undefined;
  readonly failure: Failure;
}

export async function listAll(kube: Kube, policy: Policy): Promise<Listed> {
  const world = await listWorld(kube, policy);
  const scopes = policy.config.WATCH_NAMESPACES.length === 0 ? [undefined] : policy.config.WATCH_NAMESPACES;
  const wanted: Wanted[] = [];
  const unread: Unread[] = [];
  let resourceVersion = '0';
  for (const source of sourcesOf(policy)) {
    for (const namespace of scopes) {
      const outcome = await listOne(kube, { source, namespace, policy, world });
      if ('failure' in outcome) {
        unread.push({ kind: source.resource.kind, namespace, failure: outcome.failure });
      } else {
        wanted.push(...outcome.items);
        resourceVersion = newest(resourceVersion, outcome.resourceVersion);
      }
    }
  }
  return { wanted, resourceVersion, unread };
}

interface Listing {
  readonly source: Source;
  readonly namespace: string | undefined;
  readonly policy: Policy;
  readonly world: World | Failure;
}

/** Keeps of each object only what it asks for: the objects themselves would fill the memory. */
async function listOne(
  kube: Kube,
  { source, namespace, policy, world }: Listing,
): Promise<Collection<Wanted> | { readonly failure: Failure }> {
  if (isFailure(world)) {
    return { failure: world };
  }
  try {
    return await kube.pick(source.resource, { namespace }, (object) => {
      const { namespace: place = '', name = '' } = object.metadata ?? {};
      const wanted = isNamedInScope(policy, source, place, name)
        ? wantedBy(source, object, { policy, world })
        : undefined;
      return wanted?.record === undefined ? undefined : wanted;
    });
  } catch (error) {
    return { failure: known(error) };
  }
}

/** What objects refer to: each list only where the settings make it matter. */
async function listWorld(kube: Kube, policy: Policy): Promise<World | Failure> {
  const { watchesGateways, namespaceSelector, config } = policy;
  try {
    return {
      gateways: watchesGateways ? byKey(await kube.list(gateways)) : emptyWorld.gateways,
      namespaces: watchesGateways || namespaceSelector !== undefined ? await labelled(kube) : emptyWorld.namespaces,
      classes: config.UNCLASSED === 'default' ? (await kube.list(ingressClasses)).items : emptyWorld.classes,
    };
  } catch (error) {
    return known(error);
  }
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

function isFailure(value: World | Failure): value is Failure {
  return 'kind' in value;
}

/** A bug is no trouble with the cluster. */
function known(error: unknown): Failure {
  const failure = asFailure(error);
  if (failure.kind === 'bug') {
    throw error;
  }
  return failure;
}
