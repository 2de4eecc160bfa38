import { asFailure } from '../../../lib/base/failure.ts';
import type { Kube } from '../../../lib/kube/client.ts';
import {
  customResourceDefinitions,
  type CustomResourceDefinition,
  type Resource,
} from '../../../lib/kube/model/resource.ts';
import { orIfForbidden } from '../forbidden.ts';
import type { Source } from './source.ts';

/** The name of the CustomResourceDefinition that brings a kind. */
export function definitionName({ plural, group }: Pick<Resource, 'plural' | 'group'>): string {
  return `${plural}.${group}`;
}

/** `unknown` where we may not read it. */
export function readDefinition(
  kube: Kube,
  resource: Resource,
): Promise<CustomResourceDefinition | 'unknown' | undefined> {
  return orIfForbidden('unknown', () => kube.get(customResourceDefinitions, { name: definitionName(resource) }));
}

/**
 * Is there no such kind any more, and so no object of it? That a server does not serve it proves nothing: it may be starting,
 * or serve other versions. But a definition outlives all objects of its kind.
 */
export async function isGone(kube: Kube, { resource, custom }: Source): Promise<boolean> {
  try {
    return custom && (await readDefinition(kube, resource)) === undefined;
  } catch (error) {
    if (asFailure(error).kind === 'bug') {
      throw error;
    }
    return false;
  }
}
