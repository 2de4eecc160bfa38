import type { Operation } from 'fast-json-patch';
import { pointer, unchanged, type DeleteStep, type PatchStep } from '../kube/model/plan.ts';
import { annotationOf, ownEntries, type Configuration, type Owner, type Target } from './webhooks.ts';

/**
 * The step that removes our entries, so that the API server no longer calls the function; `undefined` if there are
 * none. Entries are removed as a whole: without its `caBundle`, an entry with policy `Fail` would refuse every change.
 * Entries of others stay.
 */
export function withdrawStep(
  configuration: Configuration,
  { target, owner }: { readonly target: Target; readonly owner: Owner },
): DeleteStep | PatchStep | undefined {
  const { metadata, webhooks = [] } = configuration;
  const { resource, name } = target;
  const ours = ownEntries(configuration, target, owner).map(({ index }) => index);
  const why = `${owner.name} leaves the cluster`;
  if (ours.length === 0) {
    return undefined;
  }
  if (ours.length === webhooks.length) {
    return { do: 'delete', resource, name, uid: metadata?.uid ?? '', why };
  }
  const annotation = annotationOf(owner);
  const operations: Operation[] = [
    unchanged(configuration),
    ...ours.reverse().map((index) => ({ op: 'remove', path: pointer('webhooks', index) }) as const),
    ...(metadata?.annotations?.[annotation] === undefined
      ? []
      : [{ op: 'remove', path: pointer('metadata', 'annotations', annotation) } as const]),
  ];
  return { do: 'patch', resource, name, operations, why };
}
