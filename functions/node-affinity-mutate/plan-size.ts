import { by } from '../../lib/base/order.ts';
import { matches, type Selector } from '../../lib/kube/model/selector.ts';
import { canonical, isBelieved, type NamespaceFacts } from './match.ts';

/** Of the 1 MiB that a ConfigMap holds: rules, pools and the report need the rest. */
const mostBytes = 512 * 1024;

/** Which namespaces the state remembers. Of one that it does not, admission believes the selector of the webhook. */
export const extents = ['all', 'managed', 'special'] as const;
export type Extent = (typeof extents)[number];

export interface Remembered {
  readonly extent: Extent;
  readonly namespaces: ReadonlyMap<string, NamespaceFacts>;
  /** Whether there was no room even for all of these. */
  readonly isCut: boolean;
}

interface RememberOptions {
  /** What the webhook asks of a namespace. */
  readonly gate: Selector;
  /** What rules ask of one. */
  readonly selectors: readonly Selector[];
  /** What a look at all of them had room for: a look at one must not begin to remember others again. */
  readonly widest: Extent;
}

/**
 * As many namespaces as fit. Where they are too many, those go first that are not managed, since the API server does not
 * ask about them, then those of which admission would think the same without knowing them.
 */
export function remember(
  namespaces: ReadonlyMap<string, NamespaceFacts>,
  { gate, selectors, widest }: RememberOptions,
): Remembered {
  const known = canonical(gate);
  const unlike = selectors.filter((selector) => !isBelieved(selector, known));
  const within: Readonly<Record<Extent, (facts: NamespaceFacts) => boolean>> = {
    all: () => true,
    managed: ({ labels }) => matches(gate, labels),
    special: (facts) => within.managed(facts) && isSpecial(facts, unlike),
  };
  for (const extent of extents.slice(extents.indexOf(widest))) {
    const kept = [...namespaces].filter(([, facts]) => within[extent](facts));
    if (bytesOf(kept) <= mostBytes) {
      return { extent, namespaces: new Map(kept), isCut: false };
    }
  }
  const special = [...namespaces].filter(([, facts]) => within.special(facts));
  return { extent: 'special', namespaces: new Map(firstThatFit(special)), isCut: true };
}

function isSpecial({ labels, skip, pool }: NamespaceFacts, unlike: readonly Selector[]): boolean {
  return skip === true || pool !== undefined || unlike.some((selector) => matches(selector, labels));
}

type Entry = readonly [string, NamespaceFacts];

function bytesOf(entries: readonly Entry[]): number {
  return entries.reduce((sum, [name, facts]) => sum + name.length + JSON.stringify(facts).length + 4, 0);
}

/** By name, so that each look comes to the same. */
function firstThatFit(entries: readonly Entry[]): Entry[] {
  let left = mostBytes;
  return entries.toSorted(by(([name]) => name)).filter((entry) => {
    left -= bytesOf([entry]);
    return left >= 0;
  });
}
