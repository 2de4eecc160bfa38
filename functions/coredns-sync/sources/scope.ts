import { matches } from '../../../lib/kube/model/selector.ts';
import type { KubeObject } from '../../../lib/kube/model/wire.ts';
import type { Policy } from '../policy.ts';
import type { Source, World } from './source.ts';

const falseLike = new Set(['false', '0', 'no', 'off', 'disabled']);
const trueLike = new Set(['true', '1', 'yes', 'on', 'enabled']);

/** What the name of an object alone decides: asked before anything is read. */
export function isNamedInScope({ config }: Policy, source: Source, namespace: string, name: string): boolean {
  const watched = config.WATCH_NAMESPACES;
  const excluded = config[source.excluded];
  return (
    (watched.length === 0 || watched.includes(namespace)) &&
    !config.EXCLUDE_NAMESPACES.includes(namespace) &&
    !excluded.includes(name) &&
    !excluded.includes(`${namespace}/${name}`)
  );
}

/** What the object itself says, and its namespace's labels. */
export function isInScope(object: KubeObject, policy: Policy, world: World): boolean {
  const terminating = object.metadata?.deletionTimestamp !== undefined;
  return (
    isEnabled(object, policy) &&
    !(policy.config.DROP_TERMINATING && terminating) &&
    isSelected(object.metadata?.namespace ?? '', policy, world)
  );
}

function isEnabled({ metadata }: KubeObject, { config }: Policy): boolean {
  const said = metadata?.annotations?.[config.ANNOTATION_ENABLED_KEY]?.trim().toLowerCase() ?? '';
  return config.OPT_IN ? trueLike.has(said) : !falseLike.has(said);
}

function isSelected(namespace: string, { namespaceSelector }: Policy, { namespaces }: World): boolean {
  return namespaceSelector === undefined || matches(namespaceSelector, namespaces.get(namespace)?.metadata?.labels);
}

const integer = /^[+-]?\d{1,15}$/;

/** What an object ranks itself, where its namespace may. */
export function priorityOf({ metadata = {} }: KubeObject, { config }: Policy): number {
  const { namespace = '', annotations = {} } = metadata;
  const text = annotations[config.ANNOTATION_PRIORITY_KEY]?.trim() ?? '';
  const allowed = config.PRIORITY_NAMESPACES.length === 0 || config.PRIORITY_NAMESPACES.includes(namespace);
  return allowed && integer.test(text) ? Number.parseInt(text, 10) : 0;
}
