import type { Operation } from 'fast-json-patch';
import { pointer, unchanged, type DeleteStep, type PatchStep } from '../kube/model/plan.ts';
import { annotationOf, ownEntries, type Configuration, type Owner, type Target } from './webhooks.ts';

/**
 * Makes the API server ask no more, or nothing if it does not. Entries go as a whole: one without its `caBundle` would
 * refuse every change where its policy is `Fail`. Entries of others stay as they are.
 */
export function withdrawStep(
  configuration: Configuration,
  { target, owner }: { readonly target: Target; readonly owner: Owner },
): DeleteStep | PatchStep | undefined {
  const { metadata, webhooks = [] } = configuration;
  const { resource, name } = target;
  const ours = ownEntries(configuration, target, owner).map(({ index }) => index);
  const why = `${owner.name} leaves`;
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
