import type { KubeObject } from '../../kube/model/wire.ts';
import { humanDuration } from './age.ts';
import { isRecord } from '../../base/json.ts';
import { type Json, listAt, objectAt } from '../schema/value.ts';
import { at, stringAt } from '../schema/value.ts';

export type CellValue = string | number | boolean | null;

/** What one column shows of an object. */
export type Cell = (object: KubeObject, now: Date) => CellValue;

/** Cells by the name of their column. */
export type Cells = Readonly<Record<string, Cell>>;

export const missing = '<none>';
export const unknown = '<unknown>';
export const unset = '<unset>';

export function textCell(fallback: string, ...path: readonly string[]): Cell {
  return (object) => scalarText(at(object, ...path)) ?? fallback;
}

export function numberCell(...path: readonly string[]): Cell {
  return (object) => numberAt(object, ...path);
}

export function numberAt(object: unknown, ...path: readonly string[]): number {
  const value = at(object, ...path);
  return typeof value === 'number' ? value : 0;
}

export function objectsAt(object: unknown, ...path: readonly string[]): readonly Json[] {
  return listAt(object, ...path).filter(isRecord);
}

/** How many fields the objects at these paths have together. */
export function sizeCell(...fields: readonly string[]): Cell {
  return (object) => fields.reduce((sum, field) => sum + Object.keys(objectAt(object, field)).length, 0);
}

export function countCell(...path: readonly string[]): Cell {
  return (object) => listAt(object, ...path).length;
}

export function agoCell(...path: readonly string[]): Cell {
  return (object, now) => ago(stringAt(object, ...path), now) ?? missing;
}

export function ago(time: string | undefined, now: Date): string | undefined {
  return time === undefined ? undefined : humanDuration((now.getTime() - Date.parse(time)) / 1000);
}

/** `a=b,c in (d)`: a selector as kubectl shows it. */
function selectorText(selector: Json): string {
  const labels = Object.entries(objectAt(selector, 'matchLabels')).map(([key, value]) => `${key}=${String(value)}`);
  const expressions = objectsAt(selector, 'matchExpressions').map(expressionText);
  return joined([...labels, ...expressions]);
}

/** `a=b`: labels as kubectl shows them. */
export function labelsText(labels: Json): string {
  return joined(Object.entries(labels).map(([key, value]) => `${key}=${String(value)}`));
}

export function joined(texts: readonly string[]): string {
  return texts.length === 0 ? missing : texts.join(',');
}

/** Names or images of the containers of the pod template at a path. */
export function containersCell(field: 'name' | 'image', ...path: readonly string[]): Cell {
  return (object) =>
    objectsAt(object, ...path, 'spec', 'containers')
      .map((container) => stringAt(container, field) ?? '')
      .join(',');
}

export function selectorCell(...path: readonly string[]): Cell {
  return (object) => selectorText(objectAt(object, ...path));
}

function scalarText(value: unknown): string | undefined {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    ? String(value)
    : undefined;
}

function expressionText(expression: Json): string {
  const key = stringAt(expression, 'key') ?? '';
  const values = listAt(expression, 'values').map(String).join(',');
  switch (expression['operator']) {
    case 'In':
      return `${key} in (${values})`;
    case 'NotIn':
      return `${key} notin (${values})`;
    case 'DoesNotExist':
      return `!${key}`;
    default:
      return key;
  }
}
