import { isRecord } from '../../base/json.ts';
import type { JsonType, SchemaNode } from './tables.ts';

/**
 * What stands at one place of an object: `struct` has declared fields, `map` any fields of one kind,
 * `any` is free JSON that the API server only carries.
 */
export type Shape = 'struct' | 'map' | 'list' | 'scalar' | 'any';

/** How two writers share a value: field by field or item by item, or only as a whole. */
export type Sharing = 'atomic' | 'granular' | 'set' | 'keyed';

/** A schema with its references resolved: what OpenAPI says about one place of an object. */
export interface Schema {
  readonly shape: Shape;
  readonly sharing: Sharing;
  /** The definition that it comes from: `io.k8s.api.apps.v1.DeploymentSpec`. */
  readonly definition?: string;
  readonly type?: JsonType;
  readonly format?: string;
  readonly enum?: readonly unknown[];
  readonly default?: unknown;
  /** Of a struct; filled after the node is made, because definitions may contain themselves. */
  readonly properties: ReadonlyMap<string, Schema>;
  readonly required: readonly string[];
  /** Of a map. */
  readonly values?: Schema;
  /** Of a list. */
  readonly items?: Schema;
  /** Fields that identify the items of a `keyed` list. */
  readonly keys: readonly string[];
  /** Part of its parent even when nobody wrote it: a Go struct that is not behind a pointer, or a list that is never left out. */
  readonly isEmbedded: boolean;
  /** Undeclared fields stay. */
  readonly keepsUnknown: boolean;
  readonly patch?: PatchRule;
  /** Of custom kinds: what values must satisfy. */
  readonly constraints?: Constraints;
}

/** What a custom kind's schema demands of a value beyond its type: the published keywords, and compiled rules. */
export interface Constraints {
  readonly keywords: Readonly<Record<string, unknown>>;
  readonly isNullable: boolean;
  /** This value or one inside of it has rules. */
  readonly hasRules: boolean;
  readonly rules: readonly ValidationRule[];
}

/** One of `x-kubernetes-validations`. */
export interface ValidationRule {
  readonly rule: string;
  readonly message?: string;
  readonly reason: 'Invalid' | 'Forbidden' | 'Required' | 'Duplicate';
  /** Where the complaint points, from the value on: `.spec.size`. */
  readonly fieldPath: string;
  /** The rule compares with the value before, so it only applies to changes. */
  readonly isTransition: boolean;
  readonly takesOptionalOldSelf: boolean;
  readonly holds: (values: Readonly<Record<string, unknown>>) => unknown;
  readonly messageOf?: (values: Readonly<Record<string, unknown>>) => unknown;
}

/** How a strategic merge patch treats the value. */
export interface PatchRule {
  readonly merges: boolean;
  readonly retainsKeys: boolean;
  readonly mergeKey?: string;
}

export interface Schemas {
  /** The schema of a definition; the answer is always the same object. */
  of(definition: string): Schema;
}

/** Free JSON: shared field by field in objects, as a whole in lists. */
export const freeform: Schema = {
  shape: 'any',
  sharing: 'granular',
  properties: new Map(),
  required: [],
  keys: [],
  isEmbedded: false,
  keepsUnknown: true,
};

/** Resolves the checked-in definitions, each when it is first asked for. */
export function createSchemas(definitions: Readonly<Record<string, SchemaNode>>): Schemas {
  const resolved = new Map<string, Schema>();

  function of(definition: string): Schema {
    return resolved.get(definition) ?? resolve(definition);
  }

  function resolve(definition: string): Schema {
    const node = definitions[definition];
    if (node === undefined) {
      throw new Error(`no schema named ${definition}`);
    }
    const properties = new Map<string, Schema>();
    const schema = { ...describe(node), definition, properties };
    resolved.set(definition, schema);
    fill(properties, node);
    return schema;
  }

  function fill(properties: Map<string, Schema>, node: SchemaNode): void {
    for (const [name, property] of Object.entries(node.properties ?? {})) {
      const schema = place(property);
      const isRequiredList = schema.shape === 'list' && node.required?.includes(name) === true;
      properties.set(name, isRequiredList ? { ...schema, isEmbedded: true } : schema);
    }
  }

  function place(node: SchemaNode): Schema {
    if (node.$ref !== undefined) {
      return { ...of(node.$ref), ...overrides(node) };
    }
    const properties = new Map<string, Schema>();
    fill(properties, node);
    return { ...describe(node), properties };
  }

  function describe(node: SchemaNode): Schema {
    return {
      ...facts(node),
      ...(node.items === undefined ? {} : { items: place(node.items) }),
      ...(node.additionalProperties === undefined ? {} : { values: place(node.additionalProperties) }),
    };
  }

  return { of };
}

function facts(node: SchemaNode): Schema {
  const shape = shapeOf(node);
  return {
    shape,
    properties: freeform.properties,
    required: node.required ?? [],
    keys: keysOf(node),
    sharing: sharingOf(node, shape),
    isEmbedded: false,
    keepsUnknown: shape === 'any',
    ...(node.type === undefined ? {} : { type: node.type }),
    ...(node.format === undefined ? {} : { format: node.format }),
    ...(node.enum === undefined ? {} : { enum: node.enum }),
    ...overrides(node),
  };
}

/** What a place says in addition to the definition that it refers to. */
function overrides(node: SchemaNode): Partial<Schema> {
  const patch = patchOf(node);
  return {
    ...(node['x-kubernetes-map-type'] === 'atomic' ? { sharing: 'atomic' as const } : {}),
    ...(patch === undefined ? {} : { patch }),
    ...(node.default === undefined
      ? {}
      : { default: node.default, isEmbedded: isRecord(node.default) && Object.keys(node.default).length === 0 }),
  };
}

function shapeOf(node: SchemaNode): Shape {
  if (node.properties !== undefined) {
    return 'struct';
  }
  if (node.additionalProperties !== undefined) {
    return 'map';
  }
  if (node.type === 'array') {
    return 'list';
  }
  const isScalar = node.format !== undefined || (node.type !== undefined && node.type !== 'object');
  return isScalar ? 'scalar' : 'any';
}

function sharingOf(node: SchemaNode, shape: Shape): Sharing {
  if (shape !== 'list') {
    return node['x-kubernetes-map-type'] === 'atomic' ? 'atomic' : 'granular';
  }
  const listType = node['x-kubernetes-list-type'];
  if (listType === undefined) {
    return sharingOfUntypedList(node);
  }
  return listType === 'map' ? 'keyed' : listType;
}

/** Lists from before list types existed say the same by their patch strategy. */
function sharingOfUntypedList(node: SchemaNode): Sharing {
  if (patchOf(node)?.merges !== true) {
    return 'atomic';
  }
  return node['x-kubernetes-patch-merge-key'] === undefined ? 'set' : 'keyed';
}

function keysOf(node: SchemaNode): readonly string[] {
  const mergeKey = node['x-kubernetes-patch-merge-key'];
  return node['x-kubernetes-list-map-keys'] ?? (mergeKey === undefined ? [] : [mergeKey]);
}

function patchOf(node: SchemaNode): PatchRule | undefined {
  const strategy = node['x-kubernetes-patch-strategy'];
  if (strategy === undefined) {
    return undefined;
  }
  const mergeKey = node['x-kubernetes-patch-merge-key'];
  const strategies = strategy.split(',');
  return {
    merges: strategies.includes('merge'),
    retainsKeys: strategies.includes('retainKeys'),
    ...(mergeKey === undefined ? {} : { mergeKey }),
  };
}

/** The schema of a field, declared or not. */
export function fieldSchema(schema: Schema, name: string): Schema {
  return schema.properties.get(name) ?? schema.values ?? freeform;
}

export function itemSchema(schema: Schema): Schema {
  return schema.items ?? freeform;
}
