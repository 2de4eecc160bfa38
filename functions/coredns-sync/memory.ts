import { randomUUID } from 'node:crypto';
import { perInstance } from '../../lib/function/memory.ts';
import type { DnsFacts } from './integration/types.ts';
import type { SourceRef } from './sources/ref.ts';
import type { Layout } from './state.ts';

/** What one process knows for the moment. All of it can be read or done again. */
export interface Memory {
  /** Names this process among those that owe work. */
  readonly id: string;
  known: Known | undefined;
  /** Objects whose events were answered and whose rules are not written yet. */
  readonly waiting: Map<string, SourceRef>;
  /** The state says that this process owes work. */
  marked: boolean;
  flushing: boolean;
  /** Hosts that were written for an object by a run that then failed: its record may not tell of them. */
  readonly unsettled: Map<string, ReadonlySet<string>>;
}

/** The parts of the state that every event needs; each shard and bucket tells whether they are still true. */
export interface Known {
  readonly layout: Layout;
  readonly facts: DnsFacts | undefined;
}

export const memoryOf = perInstance<Memory>(() => ({
  id: randomUUID().slice(0, 8),
  known: undefined,
  waiting: new Map(),
  marked: false,
  flushing: false,
  unsettled: new Map(),
}));
