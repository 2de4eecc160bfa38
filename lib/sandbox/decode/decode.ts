import type { KubeObject } from '../../kube/model/wire.ts';
import { type Body, mediaType, parseYaml } from '../http/body.ts';
import { type Kind, type Kinds, apiVersionOf } from '../model/kinds.ts';
import { decodeProtobuf, knowsProtobuf, openEnvelope, ProtobufProblem } from './protobuf.ts';
import type { Schemas } from '../schema/schema.ts';
import { badRequest, unsupportedMediaType } from '../model/status.ts';
import { isRecord } from '../../base/json.ts';
import { type Json, stringAt } from '../schema/value.ts';
import { readObject } from './strict-decode.ts';
import type { FieldValidation } from './write-options.ts';

const json = 'application/json';
const yaml = 'application/yaml';
const protobuf = 'application/vnd.kubernetes.protobuf';

/** What the sandbox knows of kinds and their parts. */
export interface Known {
  readonly kinds: Kinds;
  readonly schemas: Schemas;
}

/** What a body has to be. */
export interface Expected {
  readonly kind: Kind;
  readonly fieldValidation: FieldValidation;
  warn(text: string): void;
}

/** A body that is no object of a served kind, such as options or a Scale. */
export interface ExpectedPart {
  readonly kind: string;
  /** Its definition, for bodies in protobuf. */
  readonly definition: string;
}

/** Reads an object of the expected kind from a body. Kind and apiVersion may be left out. */
export async function decode(cluster: Known, body: Body, expected: Expected): Promise<KubeObject> {
  const { kind, fieldValidation } = expected;
  const object = await parseBody(cluster, body, { kind: kind.kind, definition: kind.schema.definition ?? '' });
  assertKind(cluster.kinds, kind, object);
  return readObject({
    kind,
    object: { ...object, kind: kind.kind, apiVersion: apiVersionOf(kind) },
    fieldValidation,
    warn: (text) => expected.warn(text),
  });
}

/** Reads any object from a body in JSON, YAML or protobuf. */
export async function parseBody(
  { schemas }: Pick<Known, 'schemas'>,
  body: Body,
  expected: ExpectedPart,
): Promise<Json> {
  const type = mediaType(body.contentType);
  if (type === protobuf && knowsProtobuf(expected.definition)) {
    return parseProtobuf(schemas, body.bytes, expected);
  }
  if (type !== json && type !== yaml) {
    throw unsupportedMediaType([json, yaml, protobuf]);
  }
  const text = body.bytes.toString();
  const value = type === json ? parseJson(text, expected.kind) : await parseYaml(text);
  if (!isRecord(value)) {
    throw unrecognised(expected.kind, `json: cannot unmarshal ${goType(value)} into Go value of type struct`);
  }
  return value;
}

function parseProtobuf(schemas: Schemas, bytes: Buffer, { kind, definition }: ExpectedPart): Json {
  try {
    return { ...decodeProtobuf(openEnvelope(bytes), definition, schemas) };
  } catch (error) {
    const isTheirs = error instanceof ProtobufProblem || error instanceof SyntaxError;
    throw isTheirs
      ? badRequest(`the object provided is unrecognized (must be of type ${kind}): ${error.message}`)
      : error;
  }
}

function parseJson(text: string, expected: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw unrecognised(expected, error instanceof Error ? error.message : String(error));
  }
}

function unrecognised(expected: string, why: string): Error {
  const what = `the object provided is unrecognized (must be of type ${expected})`;
  return badRequest(`${what}: couldn't get version/kind; json parse error: ${why}`);
}

function goType(value: unknown): string {
  return Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value;
}

function assertKind(kinds: Kinds, kind: Kind, object: Json): void {
  const expectedVersion = apiVersionOf(kind);
  const apiVersion = stringAt(object, 'apiVersion') ?? expectedVersion;
  const name = stringAt(object, 'kind') ?? kind.kind;
  if (name === kind.kind && apiVersion === expectedVersion) {
    return;
  }
  if (apiVersion !== expectedVersion) {
    const message = `the API version in the data (${apiVersion}) does not match the expected API version (${expectedVersion})`;
    throw badRequest(message);
  }
  throw kinds.byName(kind.group, kind.version, name) === undefined
    ? badRequest(`no kind ${JSON.stringify(name)} is registered for version ${JSON.stringify(apiVersion)}`)
    : badRequest(
        `${name} in version ${JSON.stringify(kind.version)} cannot be handled as a ${kind.kind}: ` +
          `converting (${kind.version}.${name}) to (${kind.group === '' ? 'core' : kind.group}.${kind.kind}): unknown conversion`,
      );
}
