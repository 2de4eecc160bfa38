import type { KubeObject } from '../kube/wire.ts';
import { mediaType, parseYaml } from './body.ts';
import type { Cluster } from './cluster.ts';
import type { Kind, Kinds } from './kinds.ts';
import { apiVersionOf } from './render.ts';
import { badRequest, unsupportedMediaType } from './status.ts';
import { isObject, type Json, stringAt } from './value.ts';
import type { FieldValidation } from './write-options.ts';

const accepted = ['application/json', 'application/yaml'];

export interface Body {
  readonly text: string;
  readonly contentType: string | undefined;
}

/** What a body has to be. */
export interface Expected {
  readonly kind: Kind;
  readonly fieldValidation: FieldValidation;
  warn(text: string): void;
}

/** Reads an object of the expected kind from a body. Kind and apiVersion may be left out. */
export async function decode({ kinds, rules }: Cluster, body: Body, expected: Expected): Promise<KubeObject> {
  const { kind, fieldValidation } = expected;
  const object = await parseBody(body, kind.kind);
  assertKind(kinds, kind, object);
  return rules.inspect({
    kind,
    object: { ...object, kind: kind.kind, apiVersion: apiVersionOf(kind) },
    fieldValidation,
    warn: (text) => expected.warn(text),
    ...(mediaType(body.contentType) === 'application/json' && { text: body.text }),
  });
}

/** Reads any object from a body; `expected` is the kind's name for the message. */
export async function parseBody({ text, contentType }: Body, expected: string): Promise<Json> {
  const type = mediaType(contentType);
  if (!accepted.includes(type)) {
    throw unsupportedMediaType([...accepted, 'application/vnd.kubernetes.protobuf']);
  }
  const value = type === 'application/json' ? parseJson(text, expected) : await parseYaml(text);
  if (!isObject(value)) {
    throw unrecognised(expected, `json: cannot unmarshal ${goType(value)} into Go value of type struct`);
  }
  return value;
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
