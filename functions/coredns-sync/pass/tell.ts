import type { Context } from '../../../lib/function/definition.ts';
import { asFailure } from '../../../lib/base/failure.ts';
import type { EventStep } from '../../../lib/kube/model/plan.ts';
import { contestedBy, ranked, type Claim } from '../claim.ts';
import type { Config } from '../config.ts';
import { countRefused } from '../metrics.ts';
import type { Policy } from '../policy.ts';
import { hostKey } from '../rule.ts';
import { look, type Looked } from '../sources/look.ts';
import { refOf, type SourceRef } from '../sources/ref.ts';
import type { Wanted } from '../sources/wanted.ts';
import { outcomeEvents } from './report.ts';

/** What a run changed. */
export interface Change {
  /** Objects that are not as they were. */
  readonly changed: readonly Wanted[];
  /** Objects that are gone, where they are not among those. */
  readonly gone?: readonly string[];
  /** All claims of their hosts, as they were and as they are. */
  readonly before: readonly Claim[];
  readonly after: readonly Claim[];
  readonly at: Date;
  /** Objects of either kind that are told; absent: all of them. */
  readonly most?: number;
}

/** Tells on each object what became of its hosts. What can't be told is not worth failing for. */
export async function tell(context: Context<Config>, policy: Policy, change: Change): Promise<void> {
  const { kube, config, log } = context;
  const { changed, gone = [] } = change;
  changed.forEach((wanted) => countRefused(context, wanted));
  if (!config.EMIT_EVENTS || changed.length + gone.length === 0) {
    return;
  }
  try {
    const steps = await eventsOf(context, policy, change);
    await Promise.all(steps.map((step) => kube.run({ steps: [step] })));
  } catch (error) {
    log.warn({ reason: asFailure(error).message }, 'no Event written');
  }
}

async function eventsOf(
  context: Context<Config>,
  policy: Policy,
  { changed, gone = [], before, after, at, most }: Change,
): Promise<readonly EventStep[]> {
  const told = changed.slice(0, most);
  const sources = new Set([...told.map(({ source }) => source), ...gone]);
  const hosts = new Set([...before, ...after].filter(({ source }) => sources.has(source)).flatMap(contestedBy));
  const rivals = rankedOf(after, hosts);
  const turned = turnedHosts(hosts, rankedOf(before, hosts), rivals);
  const refs = [...turned.others].filter((source) => !sources.has(source)).flatMap((source) => refOf(source, policy));
  const others = await lookAtOthers(context, policy, refs.slice(0, most));
  const outcome = { rivals, turned: turned.hosts, at };
  return [...told, ...[...others.values()].map((wanted) => within(wanted, turned.hosts))].flatMap((wanted) =>
    outcomeEvents(wanted, outcome),
  );
}

/** Of those who can't be read nothing is told, which is no reason to keep it from those who changed. */
async function lookAtOthers(context: Context<Config>, policy: Policy, refs: readonly SourceRef[]): Promise<Looked> {
  try {
    return await look(context, policy, refs);
  } catch (error) {
    context.log.warn({ reason: asFailure(error).message }, 'no Event written on those whose hosts changed hands');
    return new Map();
  }
}

type Ranking = ReadonlyMap<string, readonly Claim[]>;

function rankedOf(claims: readonly Claim[], hosts: ReadonlySet<string>): Ranking {
  return ranked(claims.filter((claim) => contestedBy(claim).some((host) => hosts.has(host))));
}

/** Hosts that have another winner than before, and the objects that won or lost them. */
function turnedHosts(
  hosts: ReadonlySet<string>,
  before: Ranking,
  after: Ranking,
): { readonly hosts: ReadonlySet<string>; readonly others: ReadonlySet<string> } {
  const turned = [...hosts].map((host) => ({
    host,
    was: before.get(host)?.[0]?.source,
    is: after.get(host)?.[0]?.source,
  }));
  const changed = turned.filter(({ was, is }) => was !== is);
  const others = changed.flatMap(({ was, is }) => [was, is]).filter((source) => source !== undefined);
  return { hosts: new Set(changed.map(({ host }) => host)), others: new Set(others) };
}

/** Of an object that is as it was, there is nothing else to tell. */
function within(wanted: Wanted, hosts: ReadonlySet<string>): Wanted {
  return { ...wanted, claims: wanted.claims.filter((claim) => hosts.has(hostKey(claim))), refused: [] };
}
