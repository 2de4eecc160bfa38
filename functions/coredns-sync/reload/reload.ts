import { digest } from '../../../lib/base/digest.ts';
import type { Files } from '../render/render.ts';
import { compareText } from '../../../lib/base/order.ts';

/** What one CoreDNS pod says of its reloads. */
export interface Reload {
  /** `coredns_reload_failed_total` since the pod started. */
  readonly failed: number;
  /** Hash of the configuration that it tried to load last; absent until its first reload. */
  readonly version?: string;
}

/** By uid of the pod. */
export type Reloads = Readonly<Record<string, Reload>>;

/** How the fate of rules is followed. Plain JSON. */
export interface ReloadWatch {
  /** What pods said when rules were last found good or refused: since then their failures count. */
  readonly pods: Reloads;
  /** Digest of the rules that CoreDNS took last. */
  readonly good?: string;
  /** Digest of rules that it refused: the same are not written again. */
  readonly refused?: string;
  /** Since when those that it took last are put back; gone when they are. */
  readonly restoring?: string;
  /** It refuses its configuration, though the rules were those that it took: until it reloads, no rules are to blame. */
  readonly failing?: true;
  /** Why nothing was heard at the last look. */
  readonly silent?: string;
}

export interface Look {
  /** Digest of the rules as they are. */
  readonly rules: string;
  /** When they last changed; undefined where nobody can tell. */
  readonly changedAt: Date | undefined;
  readonly pods: Reloads;
  readonly at: Date;
}

/** `good`: these are rules to come back to. `refused`: come back to those now. */
export type Verdict =
  | { readonly verdict: 'good' | 'waiting'; readonly watch: ReloadWatch }
  | { readonly verdict: 'refused'; readonly watch: Rollback };

export type Rollback = ReloadWatch & Required<Pick<ReloadWatch, 'refused' | 'restoring'>>;

/** A volume shows a change within a minute and a half, and CoreDNS looks at its files every half a minute. */
const takenAfterMs = 180_000;

/** Tells rules from all others, however they are spread. */
export function rulesDigest(shards: Iterable<readonly [index: number, files: Files]>): string {
  const texts = [...shards]
    .toSorted(([left], [right]) => left - right)
    .map(([index, files]) => [index, Object.entries(files).sort(([left], [right]) => compareText(left, right))]);
  return digest(JSON.stringify(texts), 16);
}

/** From the text of a pod's metrics. */
export function parseReload(metrics: string): Reload {
  const failed = /^coredns_reload_failed_total(?:\{[^}]*\})? ([0-9.e+]+)$/m.exec(metrics)?.[1];
  const version = /^coredns_reload_version_info\{[^}]*value="([^"]*)"[^}]*\} 1$/m.exec(metrics)?.[1];
  return { failed: Number(failed ?? 0), ...(version === undefined ? {} : { version }) };
}

/**
 * How CoreDNS took a write, given what its pods said before and after: `refused` when a pod failed to reload since, `taken`
 * when every pod that was there runs another configuration, else `waiting`. A pod that started since has read the new text:
 * had that been bad, it would not run.
 */
export function judgeReload(before: Reloads, after: Reloads): 'taken' | 'refused' | 'waiting' {
  const pods = Object.entries(after).map(([uid, now]) => ({ now, then: before[uid] }));
  if (pods.some(({ now, then }) => then !== undefined && now.failed > then.failed)) {
    return 'refused';
  }
  const isTaken = pods.every(({ now, then }) => then === undefined || now.version !== then.version);
  return pods.length > 0 && isTaken ? 'taken' : 'waiting';
}

/** What a further look tells. Rules are blamed for a failure only while nobody has seen CoreDNS take them. */
export function followReload(watch: ReloadWatch | undefined, look: Look): Verdict {
  if (watch?.refused !== undefined && (watch.restoring !== undefined || watch.refused === look.rules)) {
    return rollback(watch, watch.refused, watch.restoring ?? look.at.toISOString()); // begun or not, it has yet to be done
  }
  if (Object.keys(look.pods).length === 0) {
    return { verdict: 'waiting', watch: unheard(watch, noAnswer) };
  }
  if (watch === undefined) {
    return { verdict: 'waiting', watch: { pods: look.pods } };
  }
  const { silent: _silent, ...heard } = watch;
  return follow({ ...heard, pods: { ...look.pods, ...stillThere(watch.pods, look.pods) } }, look);
}

const noAnswer = 'no pod of CoreDNS tells of its reloads; prometheus must listen on the address of the pod';

export function unheard(watch: ReloadWatch | undefined, why: string): ReloadWatch {
  return { ...(watch ?? { pods: {} }), silent: why };
}

/** What pods that are there now said at the last look: from then on their failures count. */
function stillThere(before: Reloads, now: Reloads): Reloads {
  const there = Object.entries(before).filter(([uid]) => uid in now);
  return Object.fromEntries(there.map(([uid, then]) => [uid, hasRestarted(then, now[uid]) ? { failed: 0 } : then]));
}

/** Its container counts from zero again, in the same pod. */
function hasRestarted(then: Reload, now: Reload | undefined): boolean {
  return now !== undefined && now.failed < then.failed;
}

function follow(watch: ReloadWatch, look: Look): Verdict {
  const { failing, ...calm } = watch;
  const outcome = judgeReload(watch.pods, look.pods);
  if (outcome === 'refused') {
    return failing === true || look.rules === watch.good
      ? { verdict: 'waiting', watch: { ...calm, pods: look.pods, failing: true } }
      : rollback({ ...calm, pods: look.pods }, look.rules, look.at.toISOString());
  }
  if (failing === true && outcome === 'waiting') {
    return { verdict: 'waiting', watch };
  }
  return isOld(look) ? { verdict: 'good', watch: proven(calm, look) } : { verdict: 'waiting', watch: calm };
}

function rollback(watch: ReloadWatch, refused: string, restoring: string): Verdict {
  return { verdict: 'refused', watch: { ...watch, refused, restoring } };
}

/** Every CoreDNS has seen them. That it runs another configuration than before does not tell that: others change it too. */
function isOld({ at, changedAt }: Look): boolean {
  return changedAt !== undefined && at.getTime() - changedAt.getTime() >= takenAfterMs;
}

/** Other rules that CoreDNS takes are the end of those that it refused. */
function proven({ refused, ...watch }: ReloadWatch, { rules, pods }: Look): ReloadWatch {
  return {
    ...{ ...watch, pods, good: rules },
    ...(refused !== undefined && rules === watch.good ? { refused } : {}),
  };
}
