import type { Kube } from '../../../lib/kube/client.ts';
import { ingressClasses, namespaces } from '../../../lib/kube/resource.ts';
import { orIfForbidden } from '../forbidden.ts';
import type { Policy } from '../policy.ts';
import { gateways } from './gateway.ts';
import type { SourceRef } from './ref.ts';
import { emptyWorld, type Needs, type World } from './source.ts';
import { nothingWanted, wantedBy, type Wanted } from './wanted.ts';

/** By `Ingress/shop/web`; an object that may not be read is missing. */
export type Looked = ReadonlyMap<string, Wanted>;

/** Reads the objects and what they refer to, live: an event only says where to look. */
export async function look(kube: Kube, policy: Policy, refs: readonly SourceRef[]): Promise<Looked> {
  const found = await Promise.all(refs.map(async (ref) => ({ ref, read: await readOrForbidden(kube, ref) })));
  const readable = found.flatMap(({ ref, read }) => (read === undefined ? [] : [{ ref, object: read.object }]));
  const world = await readWorld(
    kube,
    readable.flatMap(({ ref, object }) => (object === undefined ? [] : [needsOf(ref, object, policy)])),
  );
  return new Map(
    readable.map(({ ref, object }) => [
      ref.key,
      object === undefined ? nothingWanted(ref.key) : wantedBy(ref.source, object, { policy, world }),
    ]),
  );
}

/** Undefined when we may not read it: what it claimed stays. */
function readOrForbidden(
  kube: Kube,
  { source, namespace, name }: SourceRef,
): Promise<{ readonly object: Awaited<ReturnType<Kube['get']>> } | undefined> {
  return orIfForbidden(undefined, async () => ({ object: await kube.get(source.resource, { namespace, name }) }));
}

function needsOf({ source, namespace }: SourceRef, object: object, policy: Policy): Needs {
  const { namespaces: own = [], ...needs } = source.needs(object, policy);
  return { ...needs, namespaces: policy.namespaceSelector === undefined ? own : [...own, namespace] };
}

async function readWorld(kube: Kube, needs: readonly Needs[]): Promise<World> {
  const gatewayKeys = [...new Set(needs.flatMap((need) => need.gateways ?? []))];
  const namespaceNames = [...new Set(needs.flatMap((need) => need.namespaces ?? []))];
  const [foundGateways, foundNamespaces, classes] = await Promise.all([
    Promise.all(gatewayKeys.map(async (key) => ({ key, object: await kube.get(gateways, placeOf(key)) }))),
    Promise.all(namespaceNames.map(async (name) => ({ key: name, object: await kube.get(namespaces, { name }) }))),
    needs.some((need) => need.classes === true) ? kube.list(ingressClasses) : { items: emptyWorld.classes },
  ]);
  return { gateways: mapOf(foundGateways), namespaces: mapOf(foundNamespaces), classes: classes.items };
}

function placeOf(key: string): { readonly namespace: string; readonly name: string } {
  const slash = key.indexOf('/');
  return { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}

function mapOf<T>(found: readonly { readonly key: string; readonly object: T | undefined }[]): ReadonlyMap<string, T> {
  return new Map(found.flatMap(({ key, object }) => (object === undefined ? [] : [[key, object] as const])));
}
