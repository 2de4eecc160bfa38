import { serverSideApply } from './apply.ts';
import { withDefaults } from './defaults.ts';
import { trackManagers } from './managed-fields.ts';
import { normalize } from './normalize.ts';
import { apiVersionOf } from './render.ts';
import type { ObjectRules } from './rules.ts';
import { invalid } from './status.ts';
import { readObject } from './strict-decode.ts';
import { validate } from './validation/validation.ts';

/** The rules as schema, defaults, validation and field ownership make them. */
export function createObjectRules(): ObjectRules {
  return {
    inspect: readObject,
    complete: ({ schema, isCustom }, object) => (isCustom ? object : withDefaults(normalize(object, schema), schema)),
    check(checked) {
      const causes = validate(checked);
      if (causes.length > 0) {
        throw invalid(checked.kind, checked.object.metadata?.name ?? '', causes);
      }
    },
    track: ({ kind, ...write }) => trackManagers({ ...write, schema: kind.schema, apiVersion: apiVersionOf(kind) }),
    apply: ({ kind, ...application }) =>
      serverSideApply({ ...application, schema: kind.schema, apiVersion: apiVersionOf(kind), kind: kind.kind }),
  };
}
