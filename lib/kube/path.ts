import type { Resource } from './model/resource.ts';

export interface Place {
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
  readonly subresource?: string | undefined;
}

/** The URL path of a kind, an object or a subresource, with an escaped query. */
export function pathOf(
  { group, version, plural, namespaced }: Resource,
  { namespace, name, subresource }: Place,
  query: Readonly<Record<string, string | undefined>> = {},
): string {
  const parts = [
    group === '' ? `/api/${version}` : `/apis/${group}/${version}`,
    ...(namespaced && namespace !== undefined ? ['namespaces', encodeURIComponent(namespace)] : []),
    plural,
    ...(name === undefined ? [] : [encodeURIComponent(name)]),
    ...(subresource === undefined ? [] : [subresource]),
  ];
  const set = Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return set.length === 0 ? parts.join('/') : `${parts.join('/')}?${new URLSearchParams(set).toString()}`;
}
