import type { KubeObject } from '../../kube/model/wire.ts';
import { DecodeError } from '../schema/go-types.ts';
import { inspectBuiltIn, inspectCustom } from '../schema/inspect.ts';
import type { Kind } from '../model/kinds.ts';
import { normalize } from '../schema/normalize.ts';
import { ApiError, badRequest } from '../model/status.ts';
import type { Json } from '../schema/value.ts';
import type { FieldValidation } from './write-options.ts';

export interface Reading {
  readonly kind: Pick<Kind, 'group' | 'version' | 'kind' | 'schema' | 'isCustom'>;
  readonly object: Json;
  /** What a refusal shows as the value when a patch made the object. */
  readonly patched?: string;
  readonly fieldValidation: FieldValidation;
  warn(text: string): void;
}

/**
 * Reads an object as Go's decoder does: refuses values of a wrong type, and refuses, reports or ignores fields
 * that the schema does not know. A built-in object then has only what the schema knows.
 */
export function readObject(reading: Reading): KubeObject {
  try {
    return read(reading);
  } catch (error) {
    throw error instanceof DecodeError ? refusal(reading, error.message) : error;
  }
}

function read(reading: Reading): KubeObject {
  const { kind, object, fieldValidation } = reading;
  const unknown = kind.isCustom ? inspectCustom(object, kind.schema) : inspectBuiltIn(object, kind.schema);
  const complaints = fieldValidation === 'Ignore' ? [] : unknown.map((path) => `unknown field "${path}"`);
  if (fieldValidation === 'Strict' && complaints.length > 0) {
    throw new DecodeError(`strict decoding error: ${complaints.join(', ')}`);
  }
  for (const complaint of complaints) {
    reading.warn(complaint);
  }
  return kind.isCustom ? object : normalize(object, kind.schema);
}

function refusal({ kind, patched }: Reading, why: string): ApiError {
  return patched === undefined
    ? badRequest(`${kind.kind} in version "${kind.version}" cannot be handled as a ${kind.kind}: ${why}`)
    : invalidPatch(patched, why);
}

/** Refuses a patch by what it makes of an object. */
function invalidPatch(shown: string, why: string): ApiError {
  const message = `Invalid value: ${JSON.stringify(shown)}: ${why}`;
  return new ApiError(422, {
    reason: 'Invalid',
    message: ` "" is invalid: patch: ${message}`,
    details: { causes: [{ reason: 'FieldValueInvalid', message, field: 'patch' }] },
  });
}
