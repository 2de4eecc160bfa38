import type { Operation } from 'fast-json-patch';
import { pointer, unchanged, type CreateStep, type PatchStep } from '../../../lib/kube/model/plan.ts';
import { configMaps, type ConfigMap } from '../../../lib/kube/model/resource.ts';

/** A ConfigMap as it should be, as far as it is ours. */
export interface Content {
  readonly namespace: string;
  readonly name: string;
  readonly data: Readonly<Record<string, string>>;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  /** Keys of the data that were ours and must be gone. */
  readonly obsolete?: readonly string[];
}

export type WriteStep = CreateStep | PatchStep;

/**
 * Creates the ConfigMap, or changes what differs of our own keys. It fails when anybody wrote since `current` was read.
 * Keys, labels and annotations of others stay as they are.
 */
export function writeConfigMap(current: ConfigMap | undefined, content: Content, why: string): WriteStep | undefined {
  const { namespace, name, data, labels, annotations, obsolete = [] } = content;
  if (current === undefined) {
    const object: ConfigMap = { metadata: { namespace, name, labels, annotations }, data };
    return { do: 'create', resource: configMaps, object, brief: true, why };
  }
  const operations: readonly Operation[] = [
    ...obsolete
      .filter((key) => current.data?.[key] !== undefined)
      .map((key) => ({ op: 'remove' as const, path: pointer('data', key) })),
    ...additions(['data'], current.data, data),
    ...additions(['metadata', 'labels'], current.metadata?.labels, labels),
    ...additions(['metadata', 'annotations'], current.metadata?.annotations, annotations),
  ];
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

/** Adding to what is not there would fail, so a missing map comes first. */
function additions(
  path: readonly string[],
  current: Readonly<Record<string, string>> | null | undefined,
  wanted: Readonly<Record<string, string>>,
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
