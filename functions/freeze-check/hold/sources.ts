import { Refusal } from '../../../lib/kube/refusal.ts';
import type { Kube } from '../../../lib/kube/client.ts';
import type { KubeObject } from '../../../lib/kube/wire.ts';
import type { HeldKind } from './kind.ts';
import { ownerOf } from './plan.ts';

/** Where to look: everywhere, in one namespace, or at one object. */
export interface Place {
  readonly namespace?: string;
  readonly name?: string;
}

/**
 * The objects of a kind that a pass has to decide about. Where no policy ever asks for the kind, only those that are
 * held from before matter: then names and annotations are read, which for Applications is a small part of the bytes.
 */
export async function readHeld(
  kube: Kube,
  kind: HeldKind,
  place: Place,
  isAsked: boolean,
): Promise<readonly KubeObject[]> {
  try {
    if (place.name !== undefined) {
      return await readByName(kube, kind, [{ ...place, name: place.name }]);
    }
    return isAsked ? await readAll(kube, kind, place) : await readMarked(kube, kind, place);
  } catch (error) {
    // The kind is not installed here: there is nothing to hold.
    if (error instanceof Refusal && error.code === 404) {
      return [];
    }
    throw error;
  }
}

async function readAll(kube: Kube, { resource }: HeldKind, { namespace }: Place): Promise<readonly KubeObject[]> {
  const { items } = await kube.pick(resource, { namespace }, slim);
  return items;
}

async function readMarked(kube: Kube, kind: HeldKind, { namespace }: Place): Promise<readonly KubeObject[]> {
  const { items } = await kube.listMetadata(kind.resource, { namespace });
  const marked = items.filter((object) => ownerOf(kind, object) !== undefined);
  return readByName(
    kube,
    kind,
    marked.map(({ metadata }) => ({ name: metadata.name ?? '', ...placeOf(metadata.namespace) })),
  );
}

async function readByName(
  kube: Kube,
  { resource }: HeldKind,
  places: readonly (Place & { readonly name: string })[],
): Promise<readonly KubeObject[]> {
  const objects = await Promise.all(places.map((place) => kube.get(resource, place)));
  return objects.filter((object) => object !== undefined);
}

function placeOf(namespace: string | undefined): Place {
  return namespace === undefined ? {} : { namespace };
}

/** What a decision looks at; a thousand statuses and field sets need not stay in memory. */
function slim(object: KubeObject & { readonly spec?: unknown }): KubeObject {
  const { managedFields: _managed, ...metadata } = object.metadata ?? {};
  const kept: KubeObject & { readonly spec?: unknown } = { metadata, spec: object.spec };
  return kept;
}
