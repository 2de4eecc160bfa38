import { keyStep, valueStep } from './field-set.ts';
import { itemSchema, type Schema } from '../schema/schema.ts';
import { isRecord } from '../../base/json.ts';
import { isList } from '../schema/value.ts';

/** Whether two writers can share the value, and how it is walked: by fields, by items, or not at all. */
export type Form = 'fields' | 'items' | 'leaf';

export function formOf(schema: Schema, value: unknown): Form {
  if (schema.sharing === 'atomic') {
    return 'leaf';
  }
  if (isList(value)) {
    return schema.shape === 'list' ? 'items' : 'leaf';
  }
  return isRecord(value) && schema.shape !== 'list' && schema.shape !== 'scalar' ? 'fields' : 'leaf';
}

/** The step that leads to an item of a shared list, or why there is none. */
export function itemStep(list: Schema, item: unknown): { step: string } | { problem: string } {
  return list.sharing === 'keyed' ? keyedStep(list, item) : setStep(item);
}

/** The steps of a list's items; items that have none are left out. */
export function itemsByStep(list: Schema, items: readonly unknown[]): Map<string, unknown[]> {
  const found = new Map<string, unknown[]>();
  for (const item of items) {
    const result = itemStep(list, item);
    if ('step' in result) {
      const same = found.get(result.step);
      if (same === undefined) {
        found.set(result.step, [item]);
      } else {
        same.push(item);
      }
    }
  }
  return found;
}

function keyedStep(list: Schema, item: unknown): { step: string } | { problem: string } {
  if (!isRecord(item)) {
    const what = item === null ? 'a null element' : 'non-map elements';
    return { problem: `associative list with keys may not have ${what}` };
  }
  const defaults = itemSchema(list).properties;
  function valueOf(name: string): unknown {
    return (isRecord(item) ? item[name] : undefined) ?? defaults.get(name)?.default;
  }
  const present = list.keys.filter((name) => valueOf(name) !== undefined);
  if (present.length === 0) {
    const keys = `[${list.keys.map((name) => JSON.stringify(name)).join(' ')}]`;
    const why = "(and doesn't have default values for any key fields)";
    return { problem: `associative list with keys has an element that omits all key fields ${keys} ${why}` };
  }
  return { step: keyStep(present, valueOf) };
}

function setStep(item: unknown): { step: string } | { problem: string } {
  if (item === null) {
    return { problem: "associative list without keys has an element that's an explicit null" };
  }
  if (isRecord(item)) {
    return { problem: "associative list without keys has an element that's a map type" };
  }
  if (isList(item)) {
    return { problem: 'not supported: associative list with lists as elements' };
  }
  return { step: valueStep(item) };
}
