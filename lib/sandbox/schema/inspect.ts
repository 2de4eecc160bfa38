import { DecodeError, mismatch, place, scalarComplaint, structName, typeName } from './go-types.ts';
import { fieldSchema, itemSchema, type Schema } from './schema.ts';
import { isRecord } from '../../base/json.ts';
import { isList, type Json } from './value.ts';

interface Inspection {
  /** Names and list indexes on the way; changed in place. */
  readonly trail: (string | number)[];
  /** The declared fields among them: how Go names a place. */
  readonly fields: string[];
  /** The Go struct around the present place. */
  struct: string;
  readonly checksTypes: boolean;
  readonly unknown: string[];
}

/**
 * Reads an object by its schema as Go's decoder would: answers the undeclared fields, in their order;
 * throws `DecodeError` at the first value of a wrong type.
 */
export function inspectBuiltIn(value: Json, schema: Schema): readonly string[] {
  const inspection = begin(structName(schema), { checksTypes: true });
  inspectFields(value, schema, inspection);
  return inspection.unknown;
}

/** The same for a custom object, of which only the metadata has Go types; the rest is validated later. */
export function inspectCustom(value: Json, schema: Schema): readonly string[] {
  const metadata = schema.properties.get('metadata');
  if (metadata !== undefined && isRecord(value['metadata'])) {
    const inspection = { ...begin(structName(metadata), { checksTypes: true }), trail: ['metadata'] };
    inspectFields(value['metadata'], metadata, inspection);
  }
  const inspection = begin('', { checksTypes: false });
  inspectFields(value, schema, inspection);
  return inspection.unknown;
}

function begin(struct: string, { checksTypes }: { checksTypes: boolean }): Inspection {
  return { trail: [], fields: [], struct, checksTypes, unknown: [] };
}

function inspectFields(object: Json, schema: Schema, inspection: Inspection): void {
  for (const name in object) {
    inspection.trail.push(name);
    if (schema.shape !== 'struct') {
      inspectValue(object[name], fieldSchema(schema, name), inspection);
    } else if (schema.properties.has(name)) {
      inspection.fields.push(name);
      inspectValue(object[name], fieldSchema(schema, name), inspection);
      inspection.fields.pop();
    } else if (!schema.keepsUnknown) {
      inspection.unknown.push(printTrail(inspection.trail));
    }
    inspection.trail.pop();
  }
}

function inspectValue(value: unknown, schema: Schema, inspection: Inspection): void {
  if (value === undefined || value === null || schema.shape === 'any') {
    return;
  }
  if (schema.shape === 'scalar') {
    inspectScalar(value, schema, inspection);
  } else if (schema.shape === 'list') {
    inspectItems(value, schema, inspection);
  } else if (isRecord(value)) {
    const { struct } = inspection;
    inspection.struct = schema.shape === 'struct' ? structName(schema) : struct;
    inspectFields(value, schema, inspection);
    inspection.struct = struct;
  } else {
    refuse(inspection, mismatch(value, typeName(schema)).mismatch);
  }
}

function inspectItems(value: unknown, schema: Schema, inspection: Inspection): void {
  if (!isList(value)) {
    refuse(inspection, mismatch(value, typeName(schema)).mismatch);
    return;
  }
  for (const [index, item] of value.entries()) {
    inspection.trail.push(index);
    inspectValue(item, itemSchema(schema), inspection);
    inspection.trail.pop();
  }
}

function inspectScalar(value: unknown, schema: Schema, inspection: Inspection): void {
  if (!inspection.checksTypes) {
    return;
  }
  const complaint = scalarComplaint(value, schema);
  if (complaint !== undefined && 'text' in complaint) {
    throw new DecodeError(complaint.text);
  }
  if (complaint !== undefined) {
    refuse(inspection, complaint.mismatch);
  }
}

function refuse({ checksTypes, fields, struct }: Inspection, text: string): void {
  if (checksTypes) {
    throw new DecodeError(`json: ${text.replace(place, `Go struct field ${[struct, ...fields].join('.')}`)}`);
  }
}

function printTrail(trail: readonly (string | number)[]): string {
  return trail
    .map((step, index) => (typeof step === 'number' ? `[${step}]` : `${index > 0 ? '.' : ''}${step}`))
    .join('');
}
