import { randomUUID } from 'node:crypto';
import { memoryKey } from '../../../lib/function/memory.ts';
import type { DnsFacts } from '../integration/types.ts';
import type { SourceRef } from '../sources/ref.ts';
import type { Layout, State } from './state.ts';

/** What one process knows for the moment. All of it can be read or done again. */
export interface Memory {
  /** Names this process among those that owe work. */
  readonly id: string;
  /** Where things are; each shard and bucket tells whether that is still true. */
  known: Layout | undefined;
  /** Has this process ever known it? Then all is done that processes before it had died owing. */
  started: boolean;
  /** Has its own last full pass found that no rules may be written? One that has not looked yet may have other settings. */
  obstructed: boolean;
  /** Objects whose events were answered and whose rules are not written yet. */
  readonly waiting: Map<string, SourceRef>;
  /** The same of everything: somebody edited rules that were written a moment ago. */
  everythingWaits: boolean;
  /** When the state was last told that this process owes work, by its own clock; undefined when it owes nothing. */
  markedAt: number | undefined;
  /** How often it was told. */
  marks: number;
  /** When what waits is to be written; whoever joins it changes nothing about that. */
  flushAt: number | undefined;
  flushing: boolean;
  /** Hosts that were written for an object by a run that then failed: its record may not tell of them. */
  readonly unsettled: Map<string, ReadonlySet<string>>;
}

/** Has it answered for what is not done yet? */
export function isOwing({ waiting, everythingWaits }: Memory): boolean {
  return everythingWaits || waiting.size > 0;
}

/** A mark of a process that has not been renewed for so long is that of a dead one, once a full pass has done its work. */
export const orphanedAfterMs = 60_000;

/** The parts of the state that every event needs. */
export interface Known {
  readonly layout: Layout;
  readonly facts: DnsFacts | undefined;
}

/** From here on events cost what their objects cost; without a layout the next one costs a full pass. */
export function startFrom(memory: Memory, layout: Layout | undefined): void {
  memory.known = layout;
  memory.started ||= layout !== undefined;
}

/** Marks of others behind which nobody is left, as far as can be told; to a process that has just started, all of them. */
export function orphansIn(owed: State['owed'], { id, started }: Memory, now: Date): readonly string[] {
  return Object.entries(owed)
    .filter(([other, at]) => other !== id && !(started && isYoung(at, now)))
    .map(([other]) => other);
}

/** Whoever lives renews its mark before it is older. */
export function isYoung(at: string, now: Date): boolean {
  return now.getTime() - Date.parse(at) < orphanedAfterMs;
}

export const passMemory = memoryKey<Memory>(() => ({
  id: randomUUID().slice(0, 8),
  known: undefined,
  started: false,
  obstructed: false,
  waiting: new Map(),
  everythingWaits: false,
  markedAt: undefined,
  marks: 0,
  flushAt: undefined,
  flushing: false,
  unsettled: new Map(),
}));
