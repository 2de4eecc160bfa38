import { serverSideApply } from '../patch/apply.ts';
import { checkCustom } from '../definitions/custom-check.ts';
import { completeCustom } from '../definitions/custom-complete.ts';
import { withDefaults } from '../defaults/defaults.ts';
import { emptySet, type FieldSet } from '../patch/field-set.ts';
import { type Kind, subresourceOf, apiVersionOf } from '../model/kinds.ts';
import { trackManagers } from '../patch/managed-fields.ts';
import { normalize } from '../schema/normalize.ts';
import type { ObjectRules } from './rules.ts';
import { invalid } from '../model/status.ts';
import { validate } from '../validation/validation.ts';

/** The rules as schema, defaults, validation and field ownership make them. */
export function createObjectRules(): ObjectRules {
  return {
    complete: ({ schema, isCustom }, object) =>
      isCustom ? completeCustom(object, schema) : withDefaults(normalize(object, schema), schema),
    check(checked) {
      const { isCustom, schema } = checked.kind;
      const causes = [...validate(checked), ...(isCustom ? checkCustom(checked, schema) : [])];
      if (causes.length > 0) {
        throw invalid(checked.kind, checked.object.metadata?.name ?? '', causes);
      }
    },
    track: ({ kind, ...write }) =>
      trackManagers({ ...write, schema: kind.schema, apiVersion: apiVersionOf(kind), ...resetOf(kind, write) }),
    apply: ({ kind, ...application }) =>
      serverSideApply({
        ...application,
        schema: kind.schema,
        apiVersion: apiVersionOf(kind),
        kind: kind.kind,
        ...resetOf(kind, application),
      }),
  };
}

/** A custom kind whose status is no part of its own is written as a whole. */
function resetOf(kind: Kind, { subresource }: { readonly subresource?: string }): { readonly reset?: FieldSet } {
  const isWhole = kind.isCustom && subresource === undefined && subresourceOf(kind, 'status') === undefined;
  return isWhole ? { reset: emptySet } : {};
}
