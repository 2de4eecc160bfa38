import { serverSideApply } from './apply.ts';
import { trackManagers } from './managed-fields.ts';
import { apiVersionOf } from './render.ts';
import type { ObjectRules } from './rules.ts';
import { readObject } from './strict-decode.ts';

/** The rules as schema, defaults, validation and field ownership make them. */
export function createObjectRules(): ObjectRules {
  return {
    inspect: readObject,
    complete: (_kind, object) => object,
    check: () => undefined,
    track: ({ kind, ...write }) => trackManagers({ ...write, schema: kind.schema, apiVersion: apiVersionOf(kind) }),
    apply: ({ kind, ...application }) =>
      serverSideApply({ ...application, schema: kind.schema, apiVersion: apiVersionOf(kind), kind: kind.kind }),
  };
}
