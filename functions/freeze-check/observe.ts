import type { Kube } from '../../lib/kube/client.ts';
import { namespaces } from '../../lib/kube/resource.ts';
import type { KubeObject } from '../../lib/kube/wire.ts';
import { asksFor } from './hold/claims.ts';
import type { HeldKind } from './hold/kind.ts';
import { readHeld, type Place } from './hold/sources.ts';
import { readPolicies, type Policies } from './policies.ts';
import type { Labels } from './target.ts';

/** Objects of one kind that may have to be held or let go. */
export interface Candidates {
  readonly kind: HeldKind;
  readonly objects: readonly KubeObject[];
}

export interface Observed extends Policies {
  readonly candidates: readonly Candidates[];
  /** The labels of each namespace. */
  readonly namespaces: ReadonlyMap<string, Labels>;
}

/**
 * The objects first, then the policies: whoever changes an object after it was read wins, and no object is written by a
 * policy older than it. What policies ask for has to be known before, but only to read no more than needed.
 */
export async function observe(kube: Kube, kinds: readonly HeldKind[], place: Place): Promise<Observed> {
  const { rules } = await readPolicies(kube);
  const candidates = await Promise.all(
    kinds.map(async (kind) => {
      const isAsked = rules.some((rule) => asksFor(kind, rule));
      return { kind, objects: await readHeld(kube, kind, place, isAsked) };
    }),
  );
  const [policies, labels] = await Promise.all([readPolicies(kube), readNamespaces(kube, place)]);
  return { ...policies, candidates, namespaces: labels };
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
