import type { EventStep } from '../../../lib/kube/model/plan.ts';
import type { KubeObject } from '../../../lib/kube/model/wire.ts';
import type { Claim } from '../claim.ts';
import { hostKey, hostText } from '../rule.ts';
import type { Wanted } from '../sources/wanted.ts';

/** So many hosts are named; the rest is counted. */
const shown = 5;

export interface Outcome {
  /** All claims of each host, the winner first. */
  readonly rivals: ReadonlyMap<string, readonly Claim[]>;
  /** Hosts that have another winner than before. */
  readonly turned: ReadonlySet<string>;
  readonly at: Date;
}

/** What to tell on an object about its hosts. The same is told once, unless the winner of a host changed since. */
export function outcomeEvents(
  { source, about, claims, refused }: Wanted,
  { rivals, turned, at }: Outcome,
): readonly EventStep[] {
  if (about === undefined) {
    return [];
  }
  const { won = [], lost = [] } = Object.groupBy(claims, (claim) =>
    rivals.get(hostKey(claim))?.[0]?.source === source ? 'won' : 'lost',
  );
  const guarded = refused.filter(({ reason }) => reason === 'protected');
  const bad = refused.filter(({ reason }) => reason !== 'protected');
  const synced = { type: 'Normal', reason: 'HostSynced', what: 'resolves inside the cluster' } as const;
  const conflict = { type: 'Warning', reason: 'HostConflict', what: 'belongs to an object that ranks higher' } as const;
  const anew = claims.some((claim) => turned.has(hostKey(claim))) ? { since: at.toISOString() } : {};
  return [
    ...event(about, { ...synced, ...anew }, won.map(hostText)),
    ...event(
      about,
      { ...conflict, ...anew },
      lost.map((claim) => `${hostText(claim)} (${rivals.get(hostKey(claim))?.[0]?.source ?? 'another object'})`),
    ),
    ...event(about, { type: 'Warning', reason: 'HostProtected', what: 'refused' }, reasonsOf(guarded)),
    ...event(about, { type: 'Warning', reason: 'HostRejected', what: 'refused' }, reasonsOf(bad)),
  ];
}

/** Never the host itself: it may hold anything. */
function reasonsOf(refused: Wanted['refused']): readonly string[] {
  return [...new Set(refused.map(({ why }) => why))];
}

interface News {
  readonly type: EventStep['type'];
  readonly reason: string;
  readonly what: string;
  /** When it came to be; absent where it may have been so before. */
  readonly since?: string;
}

function event(about: KubeObject, { type, reason, what, since }: News, items: readonly string[]): readonly EventStep[] {
  if (items.length === 0) {
    return [];
  }
  const named = items.slice(0, shown).join(', ');
  const more = items.length > shown ? ` and ${items.length - shown} more` : '';
  const note = `${named}${more}: ${what}`;
  return [{ do: 'event', about, type, reason, note, ...(since === undefined ? {} : { occasion: `${since} ${note}` }) }];
}
