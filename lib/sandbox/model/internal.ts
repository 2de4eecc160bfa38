import type { LabelSelector } from '../../kube/model/selector.ts';
import type { KubeObject } from '../../kube/model/wire.ts';

/** Which kind of object is meant; a `Resource` of lib/kube fits. */
export interface KindRef {
  readonly group: string;
  readonly plural: string;
}

/** Who makes a request: what webhooks see as `userInfo`. */
export interface Caller {
  readonly username: string;
  readonly uid?: string;
  readonly groups: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

export type EventType = 'ADDED' | 'MODIFIED' | 'DELETED';

export interface ObjectEvent {
  readonly type: EventType;
  readonly object: KubeObject;
  /** The object before the change: absent for `ADDED`. */
  readonly old?: KubeObject;
}

export interface UpdateOptions {
  /** `binding` places a pod on a node, `finalize` changes the finalizers in a Namespace's spec. */
  readonly subresource?: 'status' | 'binding' | 'finalize';
}

export interface RemoveOptions {
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly propagationPolicy?: PropagationPolicy;
  readonly gracePeriodSeconds?: number;
}

export type PropagationPolicy = 'Background' | 'Foreground' | 'Orphan';

/** Time as the sandbox sees it, so that tests can turn the clock. */
export interface Clock {
  now(): Date;
  /** Runs `work` once after `ms`; the answer cancels it. */
  after(ms: number, work: () => void): () => void;
}

/**
 * How the parts of the sandbox that act by themselves (controllers, garbage collection, access rules) reach the objects.
 * Reads are synchronous, current and not copied: what they return must not be changed.
 * Writes take the way of a request: admission, validation, managed fields; access rules do not bind them. Without a
 * caller they are the administrator's.
 */
export interface InternalApi {
  get(kind: KindRef, name: string, namespace?: string): KubeObject | undefined;
  list(kind: KindRef, options?: ListOptions): readonly KubeObject[];
  /** Reports every later change of the kind, in order, right after it happened. Call the returned function to stop. */
  subscribe(kind: KindRef, listener: (event: ObjectEvent) => void): () => void;
  create(kind: KindRef, object: KubeObject, as?: Caller): Promise<KubeObject>;
  update(kind: KindRef, object: KubeObject, options?: UpdateOptions, as?: Caller): Promise<KubeObject>;
  remove(kind: KindRef, target: Target, options?: RemoveOptions, as?: Caller): Promise<void>;
  /** Stores an object exactly as a backup has it: uid, times and status too. Nothing checks it or fills it in. */
  restore(kind: KindRef, object: KubeObject): KubeObject;
  /** Every kind that is served now, one entry for each, custom ones too. */
  kinds(): readonly ServedKind[];
  now(): Date;
  readonly clock: Clock;
}

export interface ListOptions {
  readonly namespace?: string;
  readonly labelSelector?: LabelSelector;
}

export interface Target {
  readonly name: string;
  readonly namespace?: string;
}

export interface ServedKind extends KindRef {
  readonly version: string;
  readonly kind: string;
  readonly namespaced: boolean;
}

/** The caller that the API server itself acts as. */
export const apiServer: Caller = {
  username: 'system:apiserver',
  groups: ['system:masters', 'system:authenticated'],
};

/** The caller that the sandbox's own controllers act as. */
export function controller(name: string): Caller {
  return {
    username: `system:serviceaccount:kube-system:${name}-controller`,
    groups: ['system:serviceaccounts', 'system:serviceaccounts:kube-system', 'system:authenticated'],
  };
}
