import type { Operation } from 'fast-json-patch';
import type { Resource } from './resource.ts';
import type { KubeObject } from './wire.ts';

/** What to do, computed before anything is done: it can be printed, filtered, tested and run. */
export interface Plan {
  readonly steps: readonly Step[];
  /** What was left alone, and why. Logged and counted. */
  readonly skipped?: readonly string[];
}

/** One write. Each is harmless when repeated and safe when another writer was faster. */
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
  /** Takes fields over from other managers. Without it a contested field is a conflict. */
  readonly force?: boolean;
  readonly why: string;
}

/** A JSON patch that carries its own precondition as a `test` operation. */
export interface PatchStep extends Target {
  readonly do: 'patch';
  readonly operations: readonly Operation[];
  readonly subresource?: 'status' | 'scale';
  /** Who the fields belong to afterwards, where it is not the function itself. */
  readonly fieldManager?: string;
  /** The outcome needs only the object's metadata: spares the bytes of a large object's way back. */
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

/** Deletes exactly the object that was read. That it is gone already counts as done. */
export interface DeleteStep extends Target {
  readonly do: 'delete';
  readonly uid: string;
  readonly resourceVersion?: string;
  readonly propagation?: 'Background' | 'Foreground' | 'Orphan';
  readonly why: string;
}

/** Evicts exactly the pod that was read; a disruption budget that forbids it makes the step `throttled`. */
export interface EvictStep {
  readonly do: 'evict';
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
  readonly why: string;
}

/** A Kubernetes Event about an object: what happened to it and why, for `kubectl describe`. */
export interface EventStep {
  readonly do: 'event';
  readonly about: KubeObject;
  readonly type: 'Normal' | 'Warning';
  /** CamelCase, one word for machines. */
  readonly reason: string;
  readonly note: string;
  /** Where the same can happen again: when it did. It is told once for each occasion, however it is worded. */
  readonly occasion?: string;
}

/** A JSON pointer to the field at the given path, each segment escaped. */
export function pointer(...segments: readonly (string | number)[]): string {
  return segments.map((segment) => `/${String(segment).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

/** The `test` that makes a patch fail when the object changed since it was read. */
export function unchanged({ metadata }: KubeObject): Operation {
  return { op: 'test', path: pointer('metadata', 'resourceVersion'), value: metadata?.resourceVersion };
}
