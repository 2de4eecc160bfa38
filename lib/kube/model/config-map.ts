import type { Operation } from 'fast-json-patch';
import { pointer, unchanged, type CreateStep, type PatchStep } from './plan.ts';
import { configMaps, type ConfigMap } from './resource.ts';

/** The wanted content of a ConfigMap, as far as it is ours. */
export interface Content {
  readonly namespace: string;
  readonly name: string;
  readonly data: Readonly<Record<string, string>>;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  /** Keys of the data to remove. */
  readonly obsolete?: readonly string[];
  /** Annotations to remove. */
  readonly obsoleteAnnotations?: readonly string[];
}

export type WriteStep = CreateStep | PatchStep;

/**
 * The step that creates the ConfigMap or writes those of our keys that differ; `undefined` if nothing differs. It fails
 * with `conflict` if the ConfigMap was written since `current` was read. Keys, labels and annotations of others stay as
 * they are. The outcome carries metadata only.
 */
export function writeConfigMap(current: ConfigMap | undefined, content: Content, why: string): WriteStep | undefined {
  const { namespace, name, data, labels = {}, annotations = {} } = content;
  if (current === undefined) {
    const object: ConfigMap = { metadata: { namespace, name, labels, annotations }, data };
    return { do: 'create', resource: configMaps, object, brief: true, why };
  }
  const operations = differences(current, content);
  return operations.length === 0
    ? undefined
    : {
        do: 'patch',
        resource: configMaps,
        namespace,
        name,
        operations: [unchanged(current), ...operations],
        brief: true,
        why,
      };
}

function differences({ data, metadata }: ConfigMap, content: Content): readonly Operation[] {
  return [
    ...removals(['data'], data, content.obsolete),
    ...removals(['metadata', 'annotations'], metadata?.annotations, content.obsoleteAnnotations),
    ...additions(['data'], data, content.data),
    ...additions(['metadata', 'labels'], metadata?.labels, content.labels),
    ...additions(['metadata', 'annotations'], metadata?.annotations, content.annotations),
  ];
}

type Texts = Readonly<Record<string, string>>;

function removals(
  path: readonly string[],
  current: Texts | null | undefined,
  obsolete: readonly string[] = [],
): readonly Operation[] {
  return obsolete
    .filter((key) => current?.[key] !== undefined)
    .map((key) => ({ op: 'remove', path: pointer(...path, key) }));
}

/** JSON patch cannot add to an absent map, so the map is created first. */
function additions(
  path: readonly string[],
  current: Texts | null | undefined,
  wanted: Texts = {},
): readonly Operation[] {
  const changes = Object.entries(wanted).filter(([key, value]) => current?.[key] !== value);
  if (changes.length === 0) {
    return [];
  }
  return [
    ...(current === undefined || current === null ? [{ op: 'add' as const, path: pointer(...path), value: {} }] : []),
    ...changes.map(([key, value]) => ({ op: 'add' as const, path: pointer(...path, key), value })),
  ];
}
