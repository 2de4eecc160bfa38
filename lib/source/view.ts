import type { Watch } from '../function/triggers.ts';
import { apiVersion } from '../kube/model/resource.ts';
import { formatSelector, requirements } from '../kube/model/selector.ts';
import type { Mode } from './event.ts';
import type { View } from './reflect.ts';

/** The part of a function's watch that the source needs. */
export type SourceWatch = Pick<Watch, 'resource' | 'mode' | 'scope' | 'selector' | 'names'>;

/** A view that a function subscribes to, in one mode. */
export interface Interest {
  readonly view: View;
  readonly mode: Mode;
  /** Absent: objects of any name. */
  readonly names?: ReadonlySet<string>;
}

/** The views of a function's watches. Watches that differ only in names are merged, so that no object is sent twice. */
export function interestsOf(watches: readonly SourceWatch[], ownNamespace: string): readonly Interest[] {
  const interests = new Map<string, Interest>();
  for (const watch of watches) {
    for (const view of viewsOf(watch, ownNamespace)) {
      const identity = `${watch.mode} ${identityOf(view)}`;
      interests.set(identity, widen(interests.get(identity), { view, mode: watch.mode, ...namesOf(watch) }));
    }
  }
  return [...interests.values()];
}

/** Equal for views that can share a connection: `apps/v1 deployments in shop where app=web`. */
export function identityOf({ resource, namespace, labelSelector }: View): string {
  return [
    `${apiVersion(resource)} ${resource.plural}`,
    ...(namespace === undefined ? [] : [`in ${namespace}`]),
    ...(labelSelector === undefined ? [] : [`where ${labelSelector}`]),
  ].join(' ');
}

function viewsOf({ resource, scope, selector }: SourceWatch, ownNamespace: string): View[] {
  const labelSelector = selector === undefined ? '' : formatSelector(requirements(selector));
  const view = { resource, ...(labelSelector === '' ? {} : { labelSelector }) };
  if (scope === 'cluster' || !resource.namespaced) {
    return [view];
  }
  const namespaces = scope === 'own' ? [ownNamespace] : scope.namespaces;
  return namespaces.map((namespace) => ({ ...view, namespace }));
}

function namesOf({ names }: SourceWatch): Pick<Interest, 'names'> {
  return names === undefined ? {} : { names: new Set(names) };
}

function widen(wanted: Interest | undefined, more: Interest): Interest {
  if (wanted === undefined) {
    return more;
  }
  const { view, mode } = more;
  return wanted.names === undefined || more.names === undefined
    ? { view, mode }
    : { view, mode, names: wanted.names.union(more.names) };
}
