import type { Context } from '../../lib/function/definition.ts';
import type { Kube } from '../../lib/kube/client.ts';
import { namespaces } from '../../lib/kube/model/resource.ts';
import { asksFor } from './hold/claims.ts';
import type { HeldKind } from './hold/kind.ts';
import { readHeld, type Found, type Place } from './hold/sources.ts';
import { readPolicies, type PoliciesAtHand } from './policies.ts';
import type { Labels } from './target.ts';

export interface Observed extends PoliciesAtHand, Found {
  /** The labels of each namespace. */
  readonly namespaces: ReadonlyMap<string, Labels>;
}

/** Reads the policies, and of the objects no more than they may ask for. */
export async function observe(
  context: Pick<Context, 'kube' | 'namespace'>,
  kinds: readonly HeldKind[],
  place: Place,
): Promise<Observed> {
  const { kube } = context;
  const policies = await readPolicies(kube);
  const found = await readHeld(context, kinds, {
    place,
    isAsked: (kind) => policies.rules.some((rule) => asksFor(kind, rule)),
  });
  const isEmpty = found.candidates.every(({ objects }) => objects.length === 0);
  const labels = isEmpty ? new Map<string, Labels>() : await readNamespaces(kube, place);
  return { ...policies, ...found, namespaces: labels };
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
