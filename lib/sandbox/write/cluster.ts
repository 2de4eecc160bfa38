import type { Admission } from '../model/attributes.ts';
import type { Clock } from '../model/internal.ts';
import type { Kinds } from '../model/kinds.ts';
import type { Authorizer } from '../access/rbac.ts';
import type { ObjectRules } from './rules.ts';
import type { Schemas } from '../schema/schema.ts';
import type { Store } from '../store/store.ts';
import type { Tokens } from '../access/tokens.ts';

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
