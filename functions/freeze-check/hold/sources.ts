import type { Context } from '../../../lib/function/definition.ts';
import { asFailure, Failure } from '../../../lib/base/failure.ts';
import { Refusal } from '../../../lib/kube/refusal.ts';
import type { Kube } from '../../../lib/kube/client.ts';
import { configMaps } from '../../../lib/kube/model/resource.ts';
import type { KubeObject } from '../../../lib/kube/model/wire.ts';
import type { HeldKind } from './kind.ts';
import { emptyLedger, goneFrom, readLedger, recall, stateName, type Ledger } from './ledger.ts';
import { ownerOf } from './plan.ts';

/** Where to look: everywhere, in one namespace, or at one object. */
export interface Place {
  readonly namespace?: string;
  readonly name?: string;
}

/** Objects of one kind that may have to be held or let go. */
export interface Candidates {
  readonly kind: HeldKind;
  readonly objects: readonly KubeObject[];
}

/** A kind that could not be read. */
export interface Unread {
  readonly kind: HeldKind;
  readonly failure: Failure;
}

export interface Found {
  readonly candidates: readonly Candidates[];
  /** Nothing is known of their objects: they stay as they are, and the others don't wait for them. */
  readonly unread: readonly Unread[];
  readonly ledger: Ledger;
  /** The uids of objects that are written down there and are no more. */
  readonly gone: readonly string[];
}

export interface Search {
  readonly place: Place;
  /** Whether a policy ever asks for the kind. */
  readonly isAsked: (kind: HeldKind) => boolean;
}

/** Reads what is written down, and then the objects: whatever is found on them that is not written down is new. */
export async function readHeld(
  { kube, namespace }: Pick<Context, 'kube' | 'namespace'>,
  kinds: readonly HeldKind[],
  { place, isAsked }: Search,
): Promise<Found> {
  const written = await findLedger(kube, namespace, kinds);
  const ledger = written instanceof Failure ? emptyLedger : written;
  const candidates: Candidates[] = [];
  const unread: Unread[] = [];
  await Promise.all(
    kinds.map(async (kind) => {
      if (kind.losesMarks === true && written instanceof Failure) {
        unread.push({ kind, failure: written });
        return;
      }
      try {
        const wanted = isAsked(kind) ? undefined : (object: KubeObject) => isHeld(kind, recall(ledger, object));
        candidates.push({ kind, objects: await readKind(kube, kind, place, wanted) });
      } catch (error) {
        unread.push({ kind, failure: asFailure(error) });
      }
    }),
  );
  return { candidates, unread, ledger, gone: goneFrom(ledger, candidates, place) };
}

async function findLedger(kube: Kube, namespace: string, kinds: readonly HeldKind[]): Promise<Ledger | Failure> {
  if (!kinds.some(({ losesMarks }) => losesMarks === true)) {
    return emptyLedger;
  }
  return kube.get(configMaps, { name: stateName, namespace }).then(readLedger).catch(asFailure);
}

function isHeld(kind: HeldKind, object: KubeObject): boolean {
  return ownerOf(kind, object) !== undefined;
}

/**
 * The objects of a kind that a pass has to decide about. Where no policy ever asks for the kind, only those that are
 * held from before are `wanted`: then names and annotations are read, which for Applications is a small part of the bytes.
 */
async function readKind(
  kube: Kube,
  kind: HeldKind,
  place: Place,
  wanted: ((object: KubeObject) => boolean) | undefined,
): Promise<readonly KubeObject[]> {
  try {
    if (place.name !== undefined) {
      return await readByName(kube, kind, [{ ...place, name: place.name }]);
    }
    return wanted === undefined ? await readAll(kube, kind, place) : await readSome(kube, kind, place, wanted);
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

async function readSome(
  kube: Kube,
  kind: HeldKind,
  { namespace }: Place,
  wanted: (object: KubeObject) => boolean,
): Promise<readonly KubeObject[]> {
  const { items } = await kube.listMetadata(kind.resource, { namespace });
  return readByName(
    kube,
    kind,
    items.filter(wanted).map(({ metadata }) => ({ name: metadata.name ?? '', ...placeOf(metadata.namespace) })),
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
