import type { Admission } from './admission/attributes.ts';
import type { Clock } from './internal.ts';
import type { Kinds } from './kinds.ts';
import type { Authorizer } from './access/rbac.ts';
import type { ObjectRules } from './write/rules.ts';
import type { Schemas } from './schema/schema.ts';
import type { Store } from './store/store.ts';
import type { Tokens } from './access/tokens.ts';

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
