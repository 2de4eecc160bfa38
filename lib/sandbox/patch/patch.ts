import type { KubeObject } from '../../kube/model/wire.ts';
import { mediaType, parseYaml, type Body } from '../http/body.ts';
import { applyJsonPatch, JsonPatchProblem } from './json-patch.ts';
import type { Kind } from '../model/kinds.ts';
import { ApiError, badRequest, unsupportedMediaType } from '../model/status.ts';
import { strategicMerge } from './strategic.ts';
import { isRecord } from '../../base/json.ts';
import { isList, type Json } from '../schema/value.ts';

/** A patch makes a new state from the present one; an apply is distinguished because it may also create. */
export type Patch =
  | { readonly type: 'change'; readonly change: (live: KubeObject) => Json }
  | { readonly type: 'apply'; readonly applied: Json };

const apply = 'application/apply-patch+yaml';
const json = 'application/json-patch+json';
const merge = 'application/merge-patch+json';
const strategic = 'application/strategic-merge-patch+json';
const longestJsonPatch = 10_000;

export function isApply(contentType: string | undefined): boolean {
  return mediaType(contentType) === apply;
}

/** Reads a patch of one of the four types; custom kinds have no strategic one. */
export async function parsePatch(kind: Kind, { bytes, contentType }: Body): Promise<Patch> {
  const text = bytes.toString();
  switch (mediaType(contentType)) {
    case apply:
      return { type: 'apply', applied: asTyped(asObject(await parseYaml(text))) };
    case json:
      return jsonPatch(asOperations(parseJson(text)));
    case merge: {
      const patch = asObject(parseJson(text));
      return { type: 'change', change: (live) => asObject(mergePatch(live, patch)) };
    }
    case strategic:
      if (kind.isCustom) {
        throw unsupportedMediaType([json, merge, apply]);
      }
      return strategicPatch(kind, asObject(parseJson(text)));
    default:
      throw new ApiError(415, {
        reason: 'UnsupportedMediaType',
        message: `the body of the request was in an unknown format - accepted media types include: ${[json, merge, strategic, apply].join(', ')}`,
      });
  }
}

/** JSON Merge Patch (RFC 7386): `null` takes a field away, lists replace each other. */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isRecord(patch)) {
    return patch;
  }
  const merged = new Map(Object.entries(isRecord(target) ? target : {}));
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) {
      merged.delete(name);
    } else {
      merged.set(name, mergePatch(merged.get(name), value));
    }
  }
  return Object.fromEntries(merged);
}

function jsonPatch(operations: readonly unknown[]): Patch {
  return {
    type: 'change',
    change(live) {
      try {
        return asObject(applyJsonPatch(live, operations));
      } catch (error) {
        throw error instanceof JsonPatchProblem ? rejected() : error;
      }
    },
  };
}

function strategicPatch({ schema }: Kind, patch: Json): Patch {
  return { type: 'change', change: (live) => asObject(strategicMerge({ ...live }, patch, schema)) };
}

function rejected(): ApiError {
  return new ApiError(422, {
    reason: 'Invalid',
    message: 'the server rejected our request due to an error in our request',
    details: {},
  });
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw badRequest(`error decoding patch: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function asOperations(value: unknown): readonly unknown[] {
  if (!isList(value)) {
    throw badRequest(
      'error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp',
    );
  }
  if (value.length > longestJsonPatch) {
    throw new ApiError(413, {
      reason: 'RequestEntityTooLarge',
      message: `The allowed maximum operations in a JSON patch is ${longestJsonPatch}, got ${value.length}`,
    });
  }
  return value;
}

/** What is applied must say what it is. */
function asTyped(applied: Json): Json {
  for (const field of ['apiVersion', 'kind']) {
    if (applied[field] !== undefined && typeof applied[field] !== 'string') {
      throw badRequest(
        `error decoding YAML: json: cannot unmarshal ${typeof applied[field]} into ${field} of type string`,
      );
    }
  }
  return applied;
}

function asObject(value: unknown): Json {
  if (!isRecord(value)) {
    const type = isList(value) ? 'array' : typeof value;
    throw badRequest(
      `error decoding patch: json: cannot unmarshal ${type} into Go value of type map[string]interface {}`,
    );
  }
  return value;
}
