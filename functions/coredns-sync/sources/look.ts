import type { Kube } from '../../../lib/kube/client.ts';
import { ingressClasses, namespaces } from '../../../lib/kube/resource.ts';
import type { KubeObject } from '../../../lib/kube/wire.ts';
import { orIfForbidden, orIfUnserved } from '../forbidden.ts';
import type { Policy } from '../policy.ts';
import { isGone } from './definition.ts';
import { gateways } from './gateway.ts';
import type { SourceRef } from './ref.ts';
import { emptyWorld, type Needs, type World } from './source.ts';
import { nothingWanted, wantedBy, type Wanted } from './wanted.ts';

/** By `Ingress/shop/web`; an object that can't be read is missing, and so is one that refers to what can't be read. */
export type Looked = ReadonlyMap<string, Wanted>;

/** Reads the objects and what they refer to, live: an event only says where to look. */
export async function look(kube: Kube, policy: Policy, refs: readonly SourceRef[]): Promise<Looked> {
  const found = (await Promise.all(refs.map((ref) => readObject(kube, ref, policy)))).flat();
  const { world, hidden } = await readWorld(
    kube,
    found.map(({ needs }) => needs),
  );
  return new Map(
    found
      .filter(({ needs }) => !hidden.some((kind) => refersTo(needs, kind)))
      .map(({ ref, object }) => [
        ref.key,
        object === undefined ? nothingWanted(ref.key) : wantedBy(ref.source, object, { policy, world }),
      ]),
  );
}

interface Found {
  readonly ref: SourceRef;
  /** Undefined when there is none. */
  readonly object: KubeObject | undefined;
  readonly needs: Needs;
}

/** Nothing when we may not read it, or its kind is not served and yet defined: what it claimed stays. */
async function readObject(kube: Kube, ref: SourceRef, policy: Policy): Promise<readonly Found[]> {
  const { source, namespace, name } = ref;
  const object = await orIfForbidden('forbidden', () =>
    orIfUnserved('unserved', () => kube.getServed(source.resource, { namespace, name })),
  );
  if (object === 'forbidden' || (object === 'unserved' && !(await isGone(kube, source)))) {
    return [];
  }
  return object === undefined || object === 'unserved'
    ? [{ ref, object: undefined, needs: {} }]
    : [{ ref, object, needs: needsOf(ref, object, policy) }];
}

function needsOf({ source, namespace }: SourceRef, object: object, policy: Policy): Needs {
  const { namespaces: own = [], ...needs } = source.needs(object, policy);
  return { ...needs, namespaces: policy.namespaceSelector === undefined ? own : [...own, namespace] };
}

/** What objects refer to, and which kinds of it can't be read: we may not, or it is not served. */
interface Seen {
  readonly world: World;
  readonly hidden: readonly (keyof World)[];
}

function refersTo({ gateways: keys = [], namespaces: names = [], classes = false }: Needs, kind: keyof World): boolean {
  return { gateways: keys.length > 0, namespaces: names.length > 0, classes }[kind];
}

async function readWorld(kube: Kube, needs: readonly Needs[]): Promise<Seen> {
  const gatewayKeys = [...new Set(needs.flatMap((need) => need.gateways ?? []))];
  const namespaceNames = [...new Set(needs.flatMap((need) => need.namespaces ?? []))];
  const [foundGateways, foundNamespaces, classes] = await Promise.all([
    orIfForbidden(undefined, () =>
      orIfUnserved(undefined, () =>
        Promise.all(gatewayKeys.map(async (key) => ({ key, object: await kube.getServed(gateways, placeOf(key)) }))),
      ),
    ),
    orIfForbidden(undefined, () =>
      Promise.all(namespaceNames.map(async (name) => ({ key: name, object: await kube.get(namespaces, { name }) }))),
    ),
    orIfForbidden(undefined, async () =>
      needs.some((need) => need.classes === true) ? (await kube.list(ingressClasses)).items : emptyWorld.classes,
    ),
  ]);
  const found = { gateways: foundGateways, namespaces: foundNamespaces, classes };
  return {
    world: { gateways: mapOf(foundGateways ?? []), namespaces: mapOf(foundNamespaces ?? []), classes: classes ?? [] },
    hidden: (['gateways', 'namespaces', 'classes'] as const).filter((kind) => found[kind] === undefined),
  };
}

function placeOf(key: string): { readonly namespace: string; readonly name: string } {
  const slash = key.indexOf('/');
  return { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}

function mapOf<T>(found: readonly { readonly key: string; readonly object: T | undefined }[]): ReadonlyMap<string, T> {
  return new Map(found.flatMap(({ key, object }) => (object === undefined ? [] : [[key, object] as const])));
}
