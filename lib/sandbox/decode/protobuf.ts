import { readFileSync } from 'node:fs';
import type { Schema, Schemas } from '../schema/schema.ts';
import { isRecord } from '../../base/json.ts';

/** By field number: the JSON name; `>` precedes an inlined struct's definition, `?` follows where zero means absent. */
type Fields = Readonly<Record<string, string>>;
type FieldTable = Readonly<Record<string, Fields>>;

/** Bytes that are no object in Kubernetes' protobuf form. */
export class ProtobufProblem extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ProtobufProblem';
  }
}

export interface ProtobufObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly bytes: Buffer;
}

type WireValue = bigint | Buffer | number;

const magic = Buffer.from('k8s\0');
let loaded: FieldTable | undefined;

/** Opens the envelope that every Kubernetes object in protobuf travels in. */
export function openEnvelope(body: Buffer): ProtobufObject {
  if (!body.subarray(0, magic.length).equals(magic)) {
    throw new ProtobufProblem('provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]');
  }
  const envelope = new Map(readFields(body.subarray(magic.length)));
  const type = new Map(readFields(bytesOf(envelope.get(1))));
  return {
    apiVersion: bytesOf(type.get(1)).toString(),
    kind: bytesOf(type.get(2)).toString(),
    bytes: bytesOf(envelope.get(2)),
  };
}

/** An object as JSON would have said it. Throws where the field numbers of its kind are not known. */
export function decodeProtobuf(
  { apiVersion, kind, bytes }: ProtobufObject,
  definition: string,
  schemas: Schemas,
): object {
  return { apiVersion, kind, ...struct(bytes, schemas.of(definition)) };
}

/** True when bodies of this definition can be read. */
export function knowsProtobuf(definition: string): boolean {
  return Object.hasOwn(fieldTable(), definition);
}

/** Read when the first such body comes: most clients send JSON. */
function fieldTable(): FieldTable {
  loaded ??= JSON.parse(readFileSync(new URL('../schema/protobuf.json', import.meta.url), 'utf8')) as FieldTable;
  return loaded;
}

function struct(bytes: Buffer, schema: Schema, definition = schema.definition ?? ''): Record<string, unknown> {
  const fields = fieldTable()[definition] ?? {};
  const object: Record<string, unknown> = {};
  for (const [number, wire] of readFields(bytes)) {
    const name = fields[number];
    if (name?.startsWith('>') === true) {
      Object.assign(object, struct(bytesOf(wire), schema, name.slice(1)));
    } else if (name !== undefined) {
      assign(object, name, schema, wire);
    }
  }
  return object;
}

function assign(object: Record<string, unknown>, marked: string, schema: Schema, wire: WireValue): void {
  const name = marked.replace(/\?$/, '');
  const field = schema.properties.get(name);
  if (field === undefined) {
    return;
  }
  const value = fieldValue(wire, field, object[name]);
  const isZero = value === '' || value === 0 || value === false || value === undefined;
  if (value !== undefined && !(isZero && name !== marked)) {
    object[name] = value;
  }
}

function fieldValue(wire: WireValue, schema: Schema, before: unknown): unknown {
  if (schema.shape === 'list') {
    return [...(Array.isArray(before) ? (before as unknown[]) : []), value(wire, schema.items)];
  }
  if (schema.shape === 'map') {
    const entry = new Map(readFields(bytesOf(wire)));
    const key = bytesOf(entry.get(1)).toString();
    return { ...(isRecord(before) ? before : {}), [key]: mapValue(entry.get(2), schema.values) };
  }
  return value(wire, schema);
}

/** Lists as map values travel in a message of their own. */
function mapValue(wire: WireValue | undefined, schema: Schema | undefined): unknown {
  if (schema?.shape !== 'list') {
    return value(wire ?? Buffer.alloc(0), schema);
  }
  return readFields(bytesOf(wire)).map(([, item]) => value(item, schema.items));
}

function value(wire: WireValue, schema: Schema | undefined): unknown {
  if (schema === undefined || schema.shape === 'any') {
    return rawJson(bytesOf(wire));
  }
  return schema.shape === 'struct' ? struct(bytesOf(wire), schema) : scalar(wire, schema);
}

/** Free JSON travels as text in the first field of a message. */
function rawJson(bytes: Buffer): unknown {
  const text = bytesOf(new Map(readFields(bytes)).get(1)).toString();
  return text === '' ? undefined : (JSON.parse(text) as unknown);
}

function scalar(wire: WireValue, schema: Schema): unknown {
  if (schema.format !== undefined && schema.format in messageScalars) {
    return messageScalars[schema.format]?.(new Map(readFields(bytesOf(wire))));
  }
  if (schema.type === 'boolean') {
    return wire !== 0n;
  }
  if (schema.type === 'string') {
    return bytesOf(wire).toString(schema.format === 'byte' ? 'base64' : 'utf8');
  }
  return typeof wire === 'bigint' ? Number(BigInt.asIntN(64, wire)) : wire;
}

type Message = ReadonlyMap<number, WireValue>;

const messageScalars: Readonly<Record<string, (message: Message) => unknown>> = {
  quantity: (message) => bytesOf(message.get(1)).toString(),
  'int-or-string': (message) =>
    numberOf(message.get(1)) === 0 ? numberOf(message.get(2)) : bytesOf(message.get(3)).toString(),
  'date-time': (message) => (message.has(1) ? timeText(message) : undefined),
};

function timeText(message: Message): string {
  const nanoseconds = numberOf(message.get(2));
  const time = new Date(numberOf(message.get(1)) * 1000).toISOString();
  return nanoseconds === 0
    ? time.replace(/\.\d+Z$/, 'Z')
    : time.replace(/\.\d+Z$/, `.${String(Math.floor(nanoseconds / 1000)).padStart(6, '0')}Z`);
}

function numberOf(wire: WireValue | undefined): number {
  return typeof wire === 'bigint' ? Number(BigInt.asIntN(64, wire)) : 0;
}

function bytesOf(wire: WireValue | undefined): Buffer {
  return wire instanceof Buffer ? wire : Buffer.alloc(0);
}

/** Field numbers with their values, in the order of the bytes. */
function readFields(bytes: Buffer): readonly (readonly [number, WireValue])[] {
  const fields: (readonly [number, WireValue])[] = [];
  let position = 0;

  function varint(): bigint {
    let result = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes[position];
      if (byte === undefined || shift > 63n) {
        throw new ProtobufProblem('unexpected EOF');
      }
      position += 1;
      result |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) {
        return result;
      }
    }
  }

  function take(length: number): Buffer {
    if (position + length > bytes.length) {
      throw new ProtobufProblem('unexpected EOF');
    }
    position += length;
    return bytes.subarray(position - length, position);
  }

  function valueOf(wireType: number): WireValue {
    switch (wireType) {
      case 0:
        return varint();
      case 1:
        return take(8).readDoubleLE();
      case 2:
        return take(Number(varint()));
      case 5:
        return take(4).readFloatLE();
      default:
        throw new ProtobufProblem(`illegal wireType ${wireType}`);
    }
  }

  while (position < bytes.length) {
    const key = Number(varint());
    fields.push([key >>> 3, valueOf(key & 7)]);
  }
  return fields;
}
