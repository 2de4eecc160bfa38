import type { KubeObject, ManagedFieldsEntry } from '../../kube/model/wire.ts';
import type { Kind } from '../model/kinds.ts';
import type { Json } from '../schema/value.ts';

export interface Tracking {
  readonly kind: Kind;
  readonly before?: KubeObject;
  readonly after: KubeObject;
  readonly manager: string;
  readonly subresource?: string;
  readonly now: Date;
}

export interface Application {
  readonly kind: Kind;
  readonly live?: KubeObject;
  readonly applied: Json;
  readonly manager: string;
  readonly force: boolean;
  readonly subresource?: string;
  readonly now: Date;
}

export interface Check {
  readonly kind: Kind;
  readonly object: KubeObject;
  readonly old?: KubeObject;
  readonly subresource?: string;
}

/** What the schema of its kind does to an object on the way into the store. */
export interface ObjectRules {
  /** The object with defaults filled in, and for custom kinds without fields that the schema does not know. */
  complete(kind: Kind, object: KubeObject): KubeObject;
  /** Throws `Invalid` with all that is wrong. */
  check(check: Check): void;
  /** Who owns which field after a write that is not an apply. */
  track(tracking: Tracking): ManagedFieldsEntry[];
  /** Server-side apply: throws the conflicts. */
  apply(application: Application): KubeObject;
}
