import type { Operation } from 'fast-json-patch';
import type { Resource } from './resource.ts';
import type { KubeObject } from './wire.ts';

/**
 * Writes as data, computed before the first one is sent, so that they can be printed, filtered, tested and run.
 *
 * ```ts
 * const plan: Plan = {
 *   steps: [{ do: 'patch', resource: ingresses, namespace, name, operations: [unchanged(ingress), ...changes], why }],
 *   skipped: ['shop/web: its class is handled elsewhere'],
 * };
 * await kube.run(plan);
 * ```
 */
export interface Plan {
  readonly steps: readonly Step[];
  /** What is left alone, and why. Logged and counted. */
  readonly skipped?: readonly string[];
}

/**
 * One request that writes. Each is harmless when repeated and has a precondition against other writers.
 *
 * | `do`     | request                                   | precondition                                    |
 * | -------- | ----------------------------------------- | ----------------------------------------------- |
 * | `apply`  | server-side apply of own fields           | field ownership, optionally the resourceVersion |
 * | `patch`  | JSON patch                                | its own `test` operations                       |
 * | `create` | create                                    | the object does not exist                       |
 * | `delete` | delete                                    | the uid, optionally the resourceVersion         |
 * | `evict`  | eviction of a pod                         | the uid, and disruption budgets                 |
 * | `event`  | create of an Event with a name by content | none: a repeat changes nothing                  |
 */
export type Step = ApplyStep | PatchStep | CreateStep | DeleteStep | EvictStep | EventStep;

export interface Target<T extends KubeObject = KubeObject> {
  readonly resource: Resource<T>;
  readonly name: string;
  /** Absent for cluster-scoped kinds. */
  readonly namespace?: string;
}

/** Server-side apply of the fields that the function owns. With `metadata.resourceVersion` it is a compare-and-swap. */
export interface ApplyStep {
  readonly do: 'apply';
  readonly resource: Resource;
  readonly object: KubeObject;
  readonly subresource?: 'status';
  /** Take over fields from other managers. Without it, a field of another manager makes the step fail. */
  readonly force?: boolean;
  readonly why: string;
}

/** A JSON patch that carries its precondition as a `test` operation. */
export interface PatchStep extends Target {
  readonly do: 'patch';
  readonly operations: readonly Operation[];
  readonly subresource?: 'status' | 'scale';
  /** The owner of the fields afterwards, if it is not the function. */
  readonly fieldManager?: string;
  /** The outcome needs only metadata, which saves the bytes of a large object in the answer. */
  readonly brief?: boolean;
  readonly why: string;
}

export interface CreateStep {
  readonly do: 'create';
  readonly resource: Resource;
  readonly object: KubeObject;
  /** As in a `PatchStep`. */
  readonly brief?: boolean;
  readonly why: string;
}

/** Deletes exactly the object that was read. An object that is already gone counts as deleted. */
export interface DeleteStep extends Target {
  readonly do: 'delete';
  readonly uid: string;
  readonly resourceVersion?: string;
  readonly propagation?: 'Background' | 'Foreground' | 'Orphan';
  readonly why: string;
}

/** Evicts exactly the pod that was read. The step fails as `throttled` if a disruption budget forbids the eviction. */
export interface EvictStep {
  readonly do: 'evict';
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
  readonly why: string;
}

/** Emits a Kubernetes Event about an object, for `kubectl describe`. */
export interface EventStep {
  readonly do: 'event';
  readonly about: KubeObject;
  readonly type: 'Normal' | 'Warning';
  /** CamelCase, for machines. */
  readonly reason: string;
  readonly note: string;
  /**
   * For news that can recur: identifies the occurrence, such as its time. One Event is emitted per occasion, even if
   * the note changes.
   */
  readonly occasion?: string;
}

/** A JSON pointer to the field at the given path, each segment escaped. */
export function pointer(...segments: readonly (string | number)[]): string {
  return segments.map((segment) => `/${String(segment).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

/** The `test` operation that makes a patch fail if the object changed since it was read. */
export function unchanged({ metadata }: KubeObject): Operation {
  return { op: 'test', path: pointer('metadata', 'resourceVersion'), value: metadata?.resourceVersion };
}
