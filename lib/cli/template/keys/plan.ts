import type { Operation } from 'fast-json-patch';
import { pointer, unchanged, type Step } from '../../../kube/model/plan.ts';
import { configMaps, type ConfigMap } from '../../../kube/model/resource.ts';
import type { LabelSelector } from '../../../kube/model/selector.ts';
import type { Config } from '../config.ts';
import { keysAnnotation, watchLabel } from '../names.ts';

/** What a ConfigMap carries to ask for it. */
export const selector: LabelSelector = { matchLabels: { [watchLabel]: 'true' } };

/** Annotates those that ask for it, and cleans up those that no longer do. On its own result it plans nothing. */
export function plan(observed: readonly ConfigMap[], { MAX_KEYS }: Config): Step[] {
  return observed.flatMap((configMap) =>
    change(configMap, asksForIt(configMap) ? listed(keysOf(configMap), MAX_KEYS) : undefined),
  );
}

/** Leaves no annotation behind. */
export function farewell(observed: readonly ConfigMap[]): Step[] {
  return observed.flatMap((configMap) => change(configMap, undefined));
}

/** What to report about ConfigMaps with more keys than may be listed. */
export function omissions(observed: readonly ConfigMap[], { MAX_KEYS }: Config): string[] {
  return observed
    .filter((configMap) => asksForIt(configMap) && keysOf(configMap).length > MAX_KEYS)
    .map((configMap) => `ConfigMap ${configMap.metadata?.name ?? ''} has ${keysOf(configMap).length} keys`);
}

function asksForIt({ metadata }: ConfigMap): boolean {
  return metadata?.labels?.[watchLabel] === 'true';
}

function keysOf({ data = {}, binaryData = {} }: ConfigMap): string[] {
  return [...Object.keys(data), ...Object.keys(binaryData)].sort();
}

/** `a,b,c`, or with a limit of two `a,b,+1`. No key can hold a comma or a plus. */
function listed(keys: readonly string[], limit: number): string {
  const rest = keys.length - limit;
  return [...keys.slice(0, limit), ...(rest > 0 ? [`+${rest}`] : [])].join(',');
}

function change(configMap: ConfigMap, wanted: string | undefined): Step[] {
  const { name = '', namespace = '', annotations } = configMap.metadata ?? {};
  if (annotations?.[keysAnnotation] === wanted) {
    return [];
  }
  const operations = [unchanged(configMap), annotate(annotations, wanted)];
  const why = wanted === undefined ? 'no longer asked for' : `keys are ${wanted}`;
  return [{ do: 'patch', resource: configMaps, name, namespace, operations, why }];
}

function annotate(present: Readonly<Record<string, string>> | undefined, wanted: string | undefined): Operation {
  const path = pointer('metadata', 'annotations', keysAnnotation);
  if (wanted === undefined) {
    return { op: 'remove', path };
  }
  return present === undefined
    ? { op: 'add', path: pointer('metadata', 'annotations'), value: { [keysAnnotation]: wanted } }
    : { op: 'add', path, value: wanted };
}
