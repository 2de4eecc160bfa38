import type { Context } from '../../../lib/function/define.ts';
import type { EventStep } from '../../../lib/function/plan.ts';
import { Failure } from '../../../lib/function/failure.ts';
import type { KubeObject } from '../../../lib/kube/wire.ts';
import type { Claim } from '../claim.ts';
import type { Config } from '../config.ts';
import { hostKey, hostText } from '../rule.ts';
import type { Wanted } from '../sources/wanted.ts';

/** So many hosts are named; the rest is counted. */
const shown = 5;

/** Tells on the object what became of its hosts. What can't be told is not worth failing for. */
export async function reportOutcome(
  { kube, config, log }: Context<Config>,
  wanted: Wanted,
  rivals: ReadonlyMap<string, readonly Claim[]>,
): Promise<void> {
  const steps = config.EMIT_EVENTS ? outcomeEvents(wanted, rivals) : [];
  try {
    await kube.run({ steps });
  } catch (error) {
    log.warn(
      { source: wanted.source, reason: error instanceof Failure ? error.message : 'unknown' },
      'no Event written',
    );
  }
}

export function outcomeEvents(
  { source, about, claims, refused }: Wanted,
  rivals: ReadonlyMap<string, readonly Claim[]>,
): readonly EventStep[] {
  if (about === undefined) {
    return [];
  }
  const won = claims.filter((claim) => rivals.get(hostKey(claim))?.[0]?.source === source);
  const lost = claims.filter((claim) => !won.includes(claim));
  const guarded = refused.filter(({ reason }) => reason === 'protected');
  const bad = refused.filter(({ reason }) => reason !== 'protected');
  return [
    ...event(about, { type: 'Normal', reason: 'HostSynced', what: 'resolves inside the cluster' }, won.map(hostText)),
    ...event(
      about,
      { type: 'Warning', reason: 'HostConflict', what: 'belongs to an object that ranks higher' },
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
}

function event(about: KubeObject, { type, reason, what }: News, items: readonly string[]): readonly EventStep[] {
  if (items.length === 0) {
    return [];
  }
  const named = items.slice(0, shown).join(', ');
  const more = items.length > shown ? ` and ${items.length - shown} more` : '';
  return [{ do: 'event', about, type, reason, note: `${named}${more}: ${what}` }];
}
