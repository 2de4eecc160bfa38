import type { Admission } from './attributes.ts';
import type { Clock } from './internal.ts';
import type { Kinds } from './kinds.ts';
import type { Authorizer } from './rbac.ts';
import type { ObjectRules } from './rules.ts';
import type { Schemas } from './schema.ts';
import type { Store } from './store.ts';
import type { Tokens } from './tokens.ts';

/** What every request works on. */
export interface Cluster {
  readonly kinds: Kinds;
  readonly store: Store;
  readonly schemas: Schemas;
  readonly clock: Clock;
  readonly rules: ObjectRules;
  readonly admission: Admission;
  readonly authorizer: Authorizer;
  readonly tokens: Tokens;
}

/** A moment as Kubernetes writes it, to the second. */
export function timestamp(date: Date): string {
  return `${date.toISOString().slice(0, 19)}Z`;
}
