import type { KubeObject } from '../../kube/model/wire.ts';
import { humanDuration } from '../cells/age.ts';
import { type Cell, type CellValue, unknown } from '../cells/cell.ts';
import { builtInCells } from '../cells/built-in.ts';
import { valuesAt } from './json-path.ts';
import { type Column, type Kind, resourceName } from '../model/kinds.ts';

export type IncludedObject = 'None' | 'Metadata' | 'Object';

interface TableRequest {
  readonly kind: Kind;
  readonly objects: readonly KubeObject[];
  readonly metadata: object;
  readonly include: IncludedObject;
  readonly now: Date;
}

/** Objects as the table that `kubectl get` prints. Columns of built-in kinds that have no code are left out. */
export function tableOf({ kind, objects, metadata, include, now }: TableRequest): object {
  const columns = kind.columns.flatMap((column) => {
    const cell = cellOf(kind, column);
    return cell === undefined ? [] : [{ column, cell }];
  });
  const rows = objects.map((object) => ({
    cells: columns.map(({ cell }) => cell(object, now)),
    object: included(object, include),
  }));
  return {
    kind: 'Table',
    apiVersion: 'meta.k8s.io/v1',
    metadata,
    columnDefinitions: columns.map(({ column }) => definitionOf(column)),
    rows,
  };
}

function definitionOf({ name, type, format, priority }: Column): object {
  return { name, type, format, description: '', priority };
}

function cellOf(kind: Kind, { name, jsonPath, type }: Column): Cell | undefined {
  if (jsonPath !== undefined) {
    return (object, now) => customCell(object, jsonPath, type, now);
  }
  return builtInCells[resourceName(kind)]?.[name] ?? common[name];
}

const common: Readonly<Record<string, Cell>> = {
  Name: ({ metadata }) => metadata?.name ?? '',
  Age: ({ metadata }, now) => age(metadata?.creationTimestamp, now),
  'Created At': ({ metadata }) => metadata?.creationTimestamp ?? unknown,
};

function age(since: string | undefined, now: Date): string {
  return since === undefined ? unknown : humanDuration((now.getTime() - Date.parse(since)) / 1000);
}

function customCell(object: KubeObject, path: string, type: string, now: Date): CellValue {
  const [value] = valuesAt(object, path) ?? [];
  if (value === undefined || value === null) {
    return null;
  }
  if (type === 'date') {
    return typeof value === 'string' ? age(value, now) : unknown;
  }
  return type === 'string' ? textOf(value) : scalarOf(value);
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function scalarOf(value: unknown): CellValue {
  return typeof value === 'number' || typeof value === 'boolean' || typeof value === 'string' ? value : null;
}

function included(object: KubeObject, include: IncludedObject): object | null {
  switch (include) {
    case 'None':
      return null;
    case 'Metadata':
      return { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: object.metadata };
    case 'Object':
      return object;
  }
}
