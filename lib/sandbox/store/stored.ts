import type { KubeObject } from '../../kube/model/wire.ts';

/** One revision of one object. Never changes, so its JSON is made once, when it is first asked for. */
export interface Stored {
  /** `namespace/name`, or `/name` for an object without namespace: the order of lists. */
  readonly key: string;
  readonly revision: number;
  readonly object: KubeObject;
  json: string | undefined;
}

export function store(key: string, revision: number, object: KubeObject): Stored {
  const metadata = { ...object.metadata, resourceVersion: String(revision) };
  return { key, revision, object: { ...object, metadata }, json: undefined };
}

/**
 * The object's JSON without its opening brace, kind and apiVersion.
 * Callers put those in front: they differ by version asked for, and items of a list carry none.
 */
export function body(stored: Stored): string {
  stored.json ??= bodyOf(stored.object);
  return stored.json;
}

export function bodyOf({ kind: _kind, apiVersion: _apiVersion, ...rest }: KubeObject): string {
  return JSON.stringify(rest).slice(1);
}

export function keyOf(name: string, namespace = ''): string {
  return `${namespace}/${name}`;
}
