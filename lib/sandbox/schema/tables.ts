import { readFileSync } from 'node:fs';

export type JsonType = 'string' | 'integer' | 'number' | 'boolean' | 'object' | 'array';

/** A node of an OpenAPI schema, facts only; README.md beside this file says what each field means. */
export interface SchemaNode {
  readonly $ref?: string;
  readonly type?: JsonType;
  readonly format?: string;
  readonly enum?: readonly string[];
  readonly default?: unknown;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly items?: SchemaNode;
  readonly additionalProperties?: SchemaNode;
  readonly 'x-kubernetes-list-type'?: 'atomic' | 'set' | 'map';
  readonly 'x-kubernetes-list-map-keys'?: readonly string[];
  readonly 'x-kubernetes-map-type'?: 'atomic' | 'granular';
  readonly 'x-kubernetes-patch-strategy'?: string;
  readonly 'x-kubernetes-patch-merge-key'?: string;
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean;
  readonly 'x-kubernetes-int-or-string'?: boolean;
  readonly 'x-kubernetes-group-version-kind'?: readonly { group: string; version: string; kind: string }[];
  readonly 'x-kubernetes-unions'?: readonly unknown[];
}

export interface Column {
  readonly name: string;
  readonly type: string;
  readonly format: string;
  /** 0 is always shown, 1 with `-o wide`. */
  readonly priority: number;
}

export interface Subresource {
  readonly name: string;
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly verbs: readonly string[];
  /** Absent where the subresource is a stream or a proxy. */
  readonly schema?: string;
}

/** A built-in kind as discovery, OpenAPI and tables of the real API server describe it. */
export interface Kind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly namespaced: boolean;
  readonly verbs: readonly string[];
  /** Its definition. */
  readonly schema: string;
  readonly subresources: readonly Subresource[];
  /** Empty for kinds that cannot be listed. */
  readonly columns: readonly Column[];
  /** Paths that a `fieldSelector` may name. */
  readonly fieldSelectors: readonly string[];
}

/** All built-in kinds, by group, version and plural. */
export function readKindTable(): readonly Kind[] {
  return JSON.parse(readFileSync(new URL('kinds.json', import.meta.url), 'utf8')) as readonly Kind[];
}

/** All definitions that the kinds reach, by name. */
export function readDefinitionTable(): Readonly<Record<string, SchemaNode>> {
  const text = readFileSync(new URL('definitions.json', import.meta.url), 'utf8');
  return JSON.parse(text) as Readonly<Record<string, SchemaNode>>;
}
