import type { Admission } from './attributes.ts';
import type { Clock } from './internal.ts';
import type { Kinds } from './kinds.ts';
import type { ObjectRules } from './rules.ts';
import type { Store } from './store.ts';

/** What every request works on. */
export interface Cluster {
  readonly kinds: Kinds;
  readonly store: Store;
  readonly clock: Clock;
  readonly rules: ObjectRules;
  readonly admission: Admission;
}

/** A moment as Kubernetes writes it, to the second. */
export function timestamp(date: Date): string {
  return `${date.toISOString().slice(0, 19)}Z`;
}
