import type { Context } from '../../../lib/function/definition.ts';
import type { Kube } from '../../../lib/kube/client.ts';
import { ingressClasses, namespaces } from '../../../lib/kube/model/resource.ts';
import type { KubeObject } from '../../../lib/kube/model/wire.ts';
import type { Config } from '../config.ts';
import { orIfForbidden, orIfUnserved } from '../forbidden.ts';
import type { Policy } from '../policy.ts';
import { isGone } from './definition.ts';
import { gateways } from './gateway.ts';
import { ifLegible, partsOf, logIllegible, mostNamed, type Illegible } from './illegible.ts';
import type { SourceRef } from './ref.ts';
import { emptyWorld, type Needs, type World } from './source.ts';
import { nothingWanted, wantedBy, type Wanted } from './wanted.ts';

/** By `Ingress/shop/web`; an object that can't be read is missing, and so is one that refers to what can't be read. */
export type Looked = ReadonlyMap<string, Wanted>;

/** Reads the objects and what they refer to, live: an event only says where to look. */
export async function look(
  { kube, log }: Context<Config>,
  policy: Policy,
  refs: readonly SourceRef[],
): Promise<Looked> {
  const found = partsOf((await Promise.all(refs.map((ref) => readObject(kube, ref, policy)))).flat());
  const { world, isHidden } = await readWorld(
    kube,
    found.legible.map(({ needs }) => needs),
  );
  const seen = found.legible.filter(({ needs }) => !isHidden(needs));
  const judged = partsOf(
    seen.map(({ ref, object }) =>
      object === undefined
        ? nothingWanted(ref.key)
        : ifLegible(
            () => ref.key,
            () => wantedBy(ref.source, object, { policy, world }),
          ),
    ),
  );
  const illegible = [...found.illegible, ...judged.illegible];
  logIllegible({ log }, illegible);
  const looked = new Map(judged.legible.map((wanted) => [wanted.source, wanted]));
  const unseen = refs.filter(({ key }) => !looked.has(key) && !illegible.some(({ source }) => source === key));
  if (unseen.length > 0) {
    const objects = unseen.slice(0, mostNamed).map(({ key }) => key);
    log.warn(
      { objects, count: unseen.length },
      'not readable, or what they refer to is not: their hosts stay as they are',
    );
  }
  return looked;
}

interface Found {
  readonly ref: SourceRef;
  /** Undefined when there is none. */
  readonly object: KubeObject | undefined;
  readonly needs: Needs;
}

/** Nothing when we may not read it, or its kind is not served and yet defined: what it claimed stays. */
async function readObject(kube: Kube, ref: SourceRef, policy: Policy): Promise<readonly (Found | Illegible)[]> {
  const { source, namespace, name } = ref;
  const object = await orIfForbidden('forbidden', () =>
    orIfUnserved('unserved', () => kube.getServed(source.resource, { namespace, name })),
  );
  if (object === 'forbidden' || (object === 'unserved' && !(await isGone(kube, source)))) {
    return [];
  }
  return object === undefined || object === 'unserved'
    ? [{ ref, object: undefined, needs: {} }]
    : [
        ifLegible(
          () => ref.key,
          () => ({ ref, object, needs: needsOf(ref, object, policy) }),
        ),
      ];
}

function needsOf({ source, namespace }: SourceRef, object: object, policy: Policy): Needs {
  const { namespaces: own = [], ...needs } = source.needs(object, policy);
  return { ...needs, namespaces: policy.namespaceSelector === undefined ? own : [...own, namespace] };
}

interface Seen {
  readonly world: World;
  /** Is there anything among these that can't be read? We may not, or it is not served. */
  readonly isHidden: (needs: Needs) => boolean;
}

async function readWorld(kube: Kube, needs: readonly Needs[]): Promise<Seen> {
  const [foundGateways, foundNamespaces, classes] = await Promise.all([
    readEach(
      needs.flatMap((need) => need.gateways ?? []),
      (key) => kube.getServed(gateways, placeOf(key)),
    ),
    readEach(
      needs.flatMap((need) => need.namespaces ?? []),
      (name) => kube.get(namespaces, { name }),
    ),
    orIfForbidden(undefined, async () =>
      needs.some((need) => need.classes === true) ? (await kube.list(ingressClasses)).items : emptyWorld.classes,
    ),
  ]);
  return {
    world: { gateways: foundGateways.there, namespaces: foundNamespaces.there, classes: classes ?? [] },
    isHidden: (need) =>
      need.gateways?.some((key) => foundGateways.hidden.has(key)) === true ||
      need.namespaces?.some((name) => foundNamespaces.hidden.has(name)) === true ||
      (need.classes === true && classes === undefined),
  };
}

interface Read<T> {
  readonly there: ReadonlyMap<string, T>;
  readonly hidden: ReadonlySet<string>;
}

/** One that can't be read hides nothing of the others. */
async function readEach<T extends object>(
  keys: readonly string[],
  read: (key: string) => Promise<T | undefined>,
): Promise<Read<T>> {
  const there = new Map<string, T>();
  const hidden = new Set<string>();
  await Promise.all(
    [...new Set(keys)].map(async (key) => {
      const object = await orIfForbidden('hidden', () => orIfUnserved('hidden', () => read(key)));
      if (object === 'hidden') {
        hidden.add(key);
      } else if (object !== undefined) {
        there.set(key, object);
      }
    }),
  );
  return { there, hidden };
}

function placeOf(key: string): { readonly namespace: string; readonly name: string } {
  const slash = key.indexOf('/');
  return { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}
