import { fieldSchema, itemSchema, type Schema } from '../schema/schema.ts';
import { ApiError, badRequest } from '../model/status.ts';
import { printGo } from '../schema/go-types.ts';
import { isRecord } from '../../base/json.ts';
import { isEqual, isList, type Json } from '../schema/value.ts';

const directive = '$patch';
const retainKeys = '$retainKeys';
const deleteFromList = '$deleteFromPrimitiveList/';
const setElementOrder = '$setElementOrder/';

/**
 * Strategic merge patch: objects merge, `null` removes a field, and lists merge by the key that the schema names.
 * Directives in the patch say otherwise. Neither argument is changed.
 */
export function strategicMerge(live: Json, patch: Json, schema: Schema): Json {
  const { [directive]: instruction, ...rest } = patch;
  switch (instruction) {
    case undefined:
    case 'merge':
      return mergeObject(live, rest, schema);
    case 'replace':
      return withoutNulls(rest);
    case 'delete':
      return {};
    default:
      throw new ApiError(500, { message: `unknown patch type: ${printGo(instruction)} in map: ${printGo(patch)}` });
  }
}

function mergeObject(live: Json, patch: Json, schema: Schema): Json {
  const merged = new Map(Object.entries(retained(live, patch)));
  for (const [name, value] of Object.entries(patch)) {
    if (name.startsWith(deleteFromList)) {
      removeValues(merged, name.slice(deleteFromList.length), value);
    } else if (!name.startsWith('$')) {
      mergeField(merged, name, value, fieldSchema(schema, name));
    }
  }
  for (const [name, order] of Object.entries(patch)) {
    if (name.startsWith(setElementOrder)) {
      const field = name.slice(setElementOrder.length);
      setOrder(merged, field, { order, before: live[field], schema: fieldSchema(schema, field) });
    }
  }
  return Object.fromEntries(merged);
}

/** `$retainKeys` lists the only fields that may stay: how a union changes from one of its members to another. */
function retained(live: Json, patch: Json): Json {
  const kept = patch[retainKeys];
  if (kept === undefined) {
    return live;
  }
  const names = new Set(isList(kept) ? kept : []);
  const extra = Object.keys(patch).find((name) => !name.startsWith('$') && patch[name] !== null && !names.has(name));
  if (!isList(kept) || extra !== undefined) {
    throw badRequest('invalid patch format of retainKeys');
  }
  return Object.fromEntries(Object.entries(live).filter(([name]) => names.has(name)));
}

function mergeField(merged: Map<string, unknown>, name: string, value: unknown, schema: Schema): void {
  if (value === null) {
    merged.delete(name);
  } else {
    merged.set(name, mergeValue(merged.get(name), value, schema));
  }
}

function mergeValue(live: unknown, value: unknown, schema: Schema): unknown {
  if (isRecord(value)) {
    return isRecord(live) ? strategicMerge(live, value, schema) : withoutNulls(strategicMerge({}, value, schema));
  }
  if (isList(value) && schema.patch?.merges === true) {
    return mergeList(isList(live) ? live : [], value, schema);
  }
  return value;
}

function withoutNulls<T>(value: T): T;
function withoutNulls(value: unknown): unknown {
  if (!isRecord(value)) {
    return value;
  }
  const kept = Object.entries(value).filter(([, inner]) => inner !== null);
  return Object.fromEntries(kept.map(([name, inner]) => [name, withoutNulls(inner)]));
}

function removeValues(merged: Map<string, unknown>, name: string, values: unknown): void {
  const live = merged.get(name);
  if (isList(live) && isList(values)) {
    merged.set(
      name,
      live.filter((item) => !values.includes(item)),
    );
  }
}

function mergeList(live: readonly unknown[], patch: readonly unknown[], schema: Schema): readonly unknown[] {
  const key = schema.patch?.mergeKey;
  if (key === undefined || !patch.every(isRecord)) {
    return inOrder([...new Set([...live, ...patch])], patch, { live, key });
  }
  if (patch.some((item) => item[directive] === 'merge')) {
    throw new ApiError(500, { message: 'merging lists cannot yet be specified in the patch' });
  }
  const plain = patch.filter((item) => item[directive] === undefined);
  const isReplaced = patch.some((item) => item[directive] === 'replace');
  const kept = isReplaced ? [] : withoutDeleted(live, patch, key);
  const merged = mergeItems(kept, plain, { key, schema: itemSchema(schema) });
  return inOrder(
    merged,
    plain.map((item) => item[key]),
    { live, key },
  );
}

function withoutDeleted(live: readonly unknown[], patch: readonly Json[], key: string): readonly unknown[] {
  const deleted = patch.filter((item) => item[directive] === 'delete').map((item) => requiredKey(item, key));
  return deleted.length === 0
    ? live
    : live.filter((item) => !deleted.some((value) => isEqual(value, keyOf(item, key))));
}

interface Items {
  readonly key: string;
  readonly schema: Schema;
}

function mergeItems(live: readonly unknown[], patch: readonly Json[], { key, schema }: Items): readonly unknown[] {
  const merged = [...live];
  for (const item of patch) {
    const value = requiredKey(item, key);
    const index = merged.findIndex((other) => isEqual(keyOf(other, key), value));
    const present = merged[index];
    if (isRecord(present)) {
      merged[index] = strategicMerge(present, item, schema);
    } else {
      merged.push(withoutNulls(strategicMerge({}, item, schema)));
    }
  }
  return merged;
}

function requiredKey(item: Json, key: string): unknown {
  const value = item[key];
  if (value === undefined) {
    throw new ApiError(500, { message: `map: ${printGo(item)} does not contain declared merge key: ${key}` });
  }
  return value;
}

/** What identifies an item of a list: the value of its key, or itself when it is a scalar. */
function keyOf(item: unknown, key: string | undefined): unknown {
  return key !== undefined && isRecord(item) ? item[key] : item;
}

interface Order {
  /** The list before the patch: the order of items that the patch does not name. */
  readonly live: readonly unknown[];
  readonly key: string | undefined;
}

/** Items that the patch names come in its order; the others keep their place relative to those that were there. */
function inOrder(items: readonly unknown[], order: readonly unknown[], { live, key }: Order): readonly unknown[] {
  function rankIn(values: readonly unknown[], item: unknown): number {
    return values.findIndex((value) => isEqual(value, keyOf(item, key)));
  }
  const liveKeys = live.map((item) => keyOf(item, key));
  const named = items.filter((item) => rankIn(order, item) >= 0);
  const others = items.filter((item) => rankIn(order, item) < 0);
  named.sort((a, b) => rankIn(order, a) - rankIn(order, b));
  others.sort((a, b) => rankIn(liveKeys, a) - rankIn(liveKeys, b));

  const ordered: unknown[] = [];
  for (const item of named) {
    const rank = rankIn(liveKeys, item);
    while (rank >= 0 && others.length > 0 && rankIn(liveKeys, others[0]) < rank) {
      ordered.push(others.shift());
    }
    ordered.push(item);
  }
  return [...ordered, ...others];
}

interface Ordering {
  readonly order: unknown;
  readonly before: unknown;
  readonly schema: Schema;
}

function setOrder(merged: Map<string, unknown>, name: string, { order, before, schema }: Ordering): void {
  const items = merged.get(name);
  if (!isList(items) || !isList(order)) {
    return;
  }
  const key = schema.patch?.mergeKey;
  const values = order.map((item) => keyOf(item, key));
  merged.set(name, inOrder(items, values, { live: isList(before) ? before : [], key }));
}
