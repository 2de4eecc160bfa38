import { Failure } from '../../base/failure.ts';
import { writeConfigMap, type WriteStep } from '../model/config-map.ts';
import type { ConfigMap } from '../model/resource.ts';

/**
 * The state of a function: all keys of a ConfigMap of its own. `format` must return equal texts for equal values, so that a repeat
 * writes nothing. `parse` must accept any input and treat unreadable parts as unknown.
 *
 * ```ts
 * const census: Document<Census> = {
 *   name: 'host-census-state',
 *   schema: 1,
 *   parse: ({ hosts }) => ({ hosts: hosts?.split('\n') ?? [] }),
 *   format: ({ hosts }) => ({ hosts: hosts.join('\n') }),
 * };
 * ```
 */
export interface Document<T> {
  /** The ConfigMap, in the function's own namespace. */
  readonly name: string;
  /** Incremented when older releases cannot read what this one writes. */
  readonly schema: number;
  readonly parse: (data: Texts) => T;
  readonly format: (value: T) => Texts;
}

export type Texts = Readonly<Record<string, string>>;

/** A document as last read or written. */
export interface Stored<T> {
  readonly value: T;
  readonly object: ConfigMap | undefined;
}

const schemaKey = 'schema';

/**
 * Reads the document in a ConfigMap. Throws `LaterSchema` if a later release wrote it: it may hold the only record of
 * something, so it must neither count as empty nor be overwritten.
 */
export function readDocument<T>(document: Document<T>, object: ConfigMap | undefined): Stored<T> {
  const { [schemaKey]: schema, ...data } = object?.data ?? {};
  if (Number(schema) > document.schema) {
    throw new LaterSchema(document.name, schema ?? '');
  }
  return { value: document.parse(data), object };
}

/** A later release wrote the ConfigMap, in a schema that this one cannot read. */
export class LaterSchema extends Failure {
  constructor(name: string, schema: string) {
    const remedy = 'install that release again, or delete the ConfigMap to start without it';
    super('unavailable', `could not read ConfigMap ${name}: a later release wrote it (schema ${schema}); ${remedy}`);
    this.name = 'LaterSchema';
  }
}

export interface Revision {
  readonly namespace: string;
  /** Annotations to remove in the same write: commands that are done. */
  readonly obsoleteAnnotations?: readonly string[];
}

/** The step that writes the next value; `undefined` if nothing differs. */
export function documentStep<T>(
  document: Document<T>,
  { object }: Stored<T>,
  next: T,
  { namespace, obsoleteAnnotations = [] }: Revision,
): WriteStep | undefined {
  const data = dataOf(document, next);
  const obsolete = Object.keys(object?.data ?? {}).filter((key) => !Object.hasOwn(data, key));
  return writeConfigMap(object, { namespace, name: document.name, data, obsolete, obsoleteAnnotations }, 'state');
}

/**
 * The stored document after that write, without reading it again. An outcome without metadata means that nothing was
 * written, as in a dry run.
 */
export function storedAfter<T>(
  document: Document<T>,
  { object }: Stored<T>,
  next: T,
  metadata: ConfigMap['metadata'],
): Stored<T> {
  if (metadata === undefined) {
    return { value: next, object };
  }
  return { value: next, object: { ...object, metadata, data: dataOf(document, next) } };
}

function dataOf<T>({ schema, format }: Document<T>, value: T): Texts {
  return { [schemaKey]: String(schema), ...format(value) };
}
