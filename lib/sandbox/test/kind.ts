import type { Kind } from '../model/kinds.ts';
import { freeform } from '../schema/schema.ts';

/** A kind for tests: of free form, in namespaces, with nothing special about it. */
export function anyKind(fields: Partial<Kind> = {}): Kind {
  return {
    group: '',
    version: 'v1',
    plural: 'things',
    kind: 'Thing',
    listKind: 'ThingList',
    singular: 'thing',
    shortNames: [],
    categories: [],
    namespaced: true,
    verbs: [],
    subresources: [],
    columns: [],
    fieldSelectors: [],
    schema: freeform,
    isCustom: false,
    ...fields,
  };
}
