import { isRecord } from '../../base/json.ts';
import { isList } from '../schema/value.ts';

type Step =
  | { readonly field: string }
  | { readonly index: number }
  | { readonly each: true }
  | { readonly where: string; readonly equals: string };

const piece =
  /\.((?:[^.[\]\\]|\\.)+)|\[(-?\d+)\]|\[\*\]|\['([^']*)'\]|\[\?\(\s*@\.((?:[^=\s\\]|\\.)+)\s*==\s*(?:"([^"]*)"|'([^']*)')\s*\)\]/y;

/**
 * The values at a path as printer columns write it: `.status.conditions[?(@.type=="Ready")].status`.
 * `undefined` when the path is not of that form.
 */
export function valuesAt(object: unknown, path: string): readonly unknown[] | undefined {
  const steps = parsePath(path);
  return steps?.reduce<readonly unknown[]>((found, step) => found.flatMap((value) => follow(value, step)), [object]);
}

function parsePath(path: string): readonly Step[] | undefined {
  const text = path.startsWith('.') || path.startsWith('[') ? path : `.${path}`;
  const steps: Step[] = [];
  piece.lastIndex = 0;
  while (piece.lastIndex < text.length) {
    const match = piece.exec(text);
    if (match === null) {
      return undefined;
    }
    steps.push(stepOf(match));
  }
  return steps;
}

function stepOf([, field, index, quoted, where, double, single]: RegExpExecArray): Step {
  const name = field ?? quoted;
  if (name !== undefined) {
    return { field: name.replaceAll(/\\(.)/g, '$1') };
  }
  if (where !== undefined) {
    return { where: where.replaceAll(/\\(.)/g, '$1'), equals: double ?? single ?? '' };
  }
  return index === undefined ? { each: true } : { index: Number(index) };
}

function follow(value: unknown, step: Step): readonly unknown[] {
  if ('field' in step) {
    return isRecord(value) && step.field in value ? [value[step.field]] : [];
  }
  if (!isList(value)) {
    return [];
  }
  if ('index' in step) {
    const item = value.at(step.index);
    return item === undefined ? [] : [item];
  }
  return 'each' in step ? value : value.filter((item) => isRecord(item) && item[step.where] === step.equals);
}
