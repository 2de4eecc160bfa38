import type { KubeObject, ManagedFieldsEntry } from '../../kube/model/wire.ts';
import type { Kind } from '../kinds.ts';
import type { Json } from '../schema/value.ts';
import type { FieldValidation } from '../requests/write-options.ts';

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

/** A body as it came, to be looked at for fields that do not belong there. */
export interface Inspection {
  readonly kind: Kind;
  readonly object: Json;
  /** The JSON that the object was read from, in which a field may stand twice; absent for YAML and patches. */
  readonly text?: string;
  /** What a refusal shows as the value when a patch made the object. */
  readonly patched?: string;
  readonly fieldValidation: FieldValidation;
  warn(text: string): void;
}

/** What the schema of its kind does to an object on the way into the store. */
export interface ObjectRules {
  /** Refuses values of the wrong type, and with `Strict` fields that the schema does not know. */
  inspect(inspection: Inspection): KubeObject;
  /** The object with defaults filled in, and for custom kinds without fields that the schema does not know. */
  complete(kind: Kind, object: KubeObject): KubeObject;
  /** Throws `Invalid` with all that is wrong. */
  check(check: Check): void;
  /** Who owns which field after a write that is not an apply. */
  track(tracking: Tracking): ManagedFieldsEntry[];
  /** Server-side apply: throws the conflicts. */
  apply(application: Application): KubeObject;
}
