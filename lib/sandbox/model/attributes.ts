import type { KubeObject } from '../../kube/model/wire.ts';
import type { Caller } from './internal.ts';
import type { Kind } from './kinds.ts';

export type Operation = 'CREATE' | 'UPDATE' | 'DELETE';

/** What admission decides on: one write, as the API server describes it to webhooks. */
export interface Attributes {
  readonly operation: Operation;
  readonly kind: Kind;
  readonly subresource?: string;
  /** Empty for a create whose name is still to be generated. */
  readonly name: string;
  /** Empty for kinds without namespace, except Namespaces themselves, which count as inside of themselves. */
  readonly namespace: string;
  /** Absent for a delete. */
  readonly object?: KubeObject;
  /** Absent for a create. */
  readonly old?: KubeObject;
  readonly caller: Caller;
  readonly dryRun: boolean;
  /** CreateOptions, UpdateOptions, PatchOptions or DeleteOptions of meta.k8s.io/v1. */
  readonly options: KubeObject;
  warn(text: string): void;
}

/** Decides on every write. Both refuse by throwing an `ApiError`. */
export interface Admission {
  /** The object as mutating webhooks leave it. */
  mutate(attributes: Attributes): Promise<KubeObject | undefined>;
  validate(attributes: Attributes): Promise<void>;
}
