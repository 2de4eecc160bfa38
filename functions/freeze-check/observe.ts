import { asFailure, type Failure } from '../../lib/function/failure.ts';
import type { Kube } from '../../lib/kube/client.ts';
import { namespaces } from '../../lib/kube/resource.ts';
import type { KubeObject } from '../../lib/kube/wire.ts';
import { asksFor } from './hold/claims.ts';
import type { HeldKind } from './hold/kind.ts';
import { readHeld, type Place } from './hold/sources.ts';
import { readPolicies, type PoliciesAtHand } from './policies.ts';
import type { Labels } from './target.ts';

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

export interface Observed extends PoliciesAtHand {
  readonly candidates: readonly Candidates[];
  /** Nothing is known of their objects: they stay as they are, and the others don't wait for them. */
  readonly unread: readonly Unread[];
  /** The labels of each namespace. */
  readonly namespaces: ReadonlyMap<string, Labels>;
}

/** Reads the policies, and of the objects no more than they may ask for. */
export async function observe(kube: Kube, kinds: readonly HeldKind[], place: Place): Promise<Observed> {
  const policies = await readPolicies(kube);
  const candidates: Candidates[] = [];
  const unread: Unread[] = [];
  await Promise.all(
    kinds.map(async (kind) => {
      const isAsked = policies.rules.some((rule) => asksFor(kind, rule));
      try {
        candidates.push({ kind, objects: await readHeld(kube, kind, place, isAsked) });
      } catch (error) {
        unread.push({ kind, failure: asFailure(error) });
      }
    }),
  );
  const isEmpty = candidates.every(({ objects }) => objects.length === 0);
  const labels = isEmpty ? new Map<string, Labels>() : await readNamespaces(kube, place);
  return { ...policies, candidates, unread, namespaces: labels };
}

/**
 * The same objects under the policies as they are by now. What is to be written is decided so: no object is written by a
 * policy older than it, and whoever changes an object after it was read wins.
 */
export async function withPoliciesOfNow(kube: Kube, observed: Observed): Promise<Observed> {
  return { ...observed, ...(await readPolicies(kube)) };
}

async function readNamespaces(kube: Kube, { namespace }: Place): Promise<ReadonlyMap<string, Labels>> {
  const found =
    namespace === undefined
      ? (await kube.listMetadata(namespaces)).items
      : [await kube.get(namespaces, { name: namespace })];
  return new Map(
    found
      .filter((object) => object !== undefined)
      .map(({ metadata }) => [metadata?.name ?? '', metadata?.labels ?? {}]),
  );
}
