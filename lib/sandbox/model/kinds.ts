import type { KindRef } from './internal.ts';
import type { Schema, Schemas } from '../schema/schema.ts';
import type { Column as TableColumn, Kind as TableKind, Subresource } from '../schema/tables.ts';

export type { Subresource } from '../schema/tables.ts';

/** A column of the tables that kubectl prints. */
export interface Column extends TableColumn {
  /** Where a custom kind's cell comes from; built-in kinds have code for theirs. */
  readonly jsonPath?: string;
}

/** A kind in one version, as discovery lists it. */
export interface Kind extends KindRef, Omit<TableKind, 'schema' | 'columns'> {
  readonly listKind: string;
  readonly columns: readonly Column[];
  readonly schema: Schema;
  /** Where a custom kind keeps what its `scale` subresource shows. */
  readonly scale?: ScalePaths;
  /** What a custom kind's definition says in OpenAPI; those of built-in kinds are in the tables. */
  readonly openApi?: object;
  /** True for kinds that a CustomResourceDefinition added. */
  readonly isCustom: boolean;
}

/** Paths of the form `.spec.replicas`. */
export interface ScalePaths {
  readonly specReplicasPath: string;
  readonly statusReplicasPath: string;
  readonly labelSelectorPath?: string;
}

/** The kinds of the checked-in tables. Schemas resolve when they are first asked for, which keeps starting quick. */
export function builtInKinds(table: readonly TableKind[], schemas: Schemas): readonly Kind[] {
  return table.map((entry) => ({
    ...entry,
    listKind: `${entry.kind}List`,
    isCustom: false,
    get schema() {
      return schemas.of(entry.schema);
    },
  }));
}

export function subresourceOf(kind: Kind, name: string): Subresource | undefined {
  return kind.subresources.find((subresource) => subresource.name === name);
}

/** `apps/v1`, `v1`: how objects name their group and version. */
export function apiVersionOf({ group, version }: Pick<Kind, 'group' | 'version'>): string {
  return group === '' ? version : `${group}/${version}`;
}

/** `deployments.apps`, `pods`: how messages and tables name a kind. */
export function resourceName({ group, plural }: Pick<Kind, 'group' | 'plural'>): string {
  return group === '' ? plural : `${plural}.${group}`;
}

/** The kinds served now. Built-in ones never change; custom ones come and go with their definitions. */
export interface Kinds {
  find(group: string, version: string, plural: string): Kind | undefined;
  /** Any served version: the preferred one. */
  preferred(ref: KindRef): Kind | undefined;
  /** By the names that objects carry. */
  byName(group: string, version: string, kind: string): Kind | undefined;
  all(): readonly Kind[];
  /** One entry for everything that is stored: the preferred version of each kind. */
  served(): readonly Kind[];
  /** Versions of a group, preferred first. */
  versions(group: string): readonly string[];
  groups(): readonly string[];
  /** Replaces all versions of one custom kind; an empty list removes it. */
  setCustom(ref: KindRef, versions: readonly Kind[]): void;
}

export function createKinds(builtIn: readonly Kind[]): Kinds {
  const custom = new Map<string, readonly Kind[]>();
  let index = indexOf(builtIn);

  return {
    find: (group, version, plural) => index.byPlural.get(`${group}/${version}/${plural}`),
    preferred: ({ group, plural }) => index.preferred.get(`${group}/${plural}`),
    byName: (group, version, kind) => index.byKind.get(`${group}/${version}/${kind}`),
    all: () => index.all,
    served: () => index.served,
    versions: (group) => index.versions.get(group) ?? [],
    groups: () => [...index.versions.keys()],
    setCustom({ group, plural }, versions) {
      custom.set(`${group}/${plural}`, versions);
      index = indexOf([...builtIn, ...[...custom.values()].flat()]);
    },
  };
}

interface Index {
  readonly all: readonly Kind[];
  readonly served: readonly Kind[];
  readonly byPlural: ReadonlyMap<string, Kind>;
  readonly byKind: ReadonlyMap<string, Kind>;
  readonly preferred: ReadonlyMap<string, Kind>;
  readonly versions: ReadonlyMap<string, readonly string[]>;
}

function indexOf(all: readonly Kind[]): Index {
  const versions = new Map<string, string[]>();
  for (const { group, version } of all) {
    const known = versions.get(group) ?? [];
    versions.set(group, known.includes(version) ? known : [...known, version].sort(comparePriority));
  }
  const leastPreferredFirst = [...all].sort((a, b) => comparePriority(b.version, a.version));
  const preferred = new Map(leastPreferredFirst.map((kind) => [`${kind.group}/${kind.plural}`, kind]));
  return {
    all,
    // Events of both groups are the same objects.
    served: [...preferred.values()].filter(({ group, verbs }) => group !== 'events.k8s.io' && verbs.includes('list')),
    byPlural: new Map(all.map((kind) => [`${kind.group}/${kind.version}/${kind.plural}`, kind])),
    byKind: new Map(all.map((kind) => [`${kind.group}/${kind.version}/${kind.kind}`, kind])),
    preferred,
    versions,
  };
}

const versionName = /^v(\d+)(?:(alpha|beta)(\d+))?$/;

/** Kubernetes' order of versions: v2, v1, v1beta2, v1beta1, v1alpha1, then other names alphabetically. */
export function comparePriority(a: string, b: string): number {
  const left = priority(a);
  const right = priority(b);
  if (left === undefined || right === undefined) {
    return Number(left === undefined) - Number(right === undefined) || (a < b ? -1 : 1);
  }
  return right.stage - left.stage || right.major - left.major || right.minor - left.minor;
}

function priority(version: string): { stage: number; major: number; minor: number } | undefined {
  const [, major, stage, minor] = versionName.exec(version) ?? [];
  if (major === undefined) {
    return undefined;
  }
  return { stage: stage === undefined ? 2 : Number(stage === 'beta'), major: Number(major), minor: Number(minor ?? 0) };
}
