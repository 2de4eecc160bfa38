import * as z from 'zod';
import { defineFunction } from '../../../runtime/define.ts';
import type { Definition } from '../../../function/definition.ts';
import type { Watch } from '../../../function/triggers.ts';
import type { Resource } from '../../../kube/model/resource.ts';
import { renderFunction } from '../function-manifests.ts';
import type { Manifest } from '../../../kube/model/manifest.ts';

/** A handler that does nothing; these tests are about triggers. */
export async function ignore(): Promise<void> {
  // nothing
}

/** A minimal definition with the parts that a test is about. */
export function sample(parts: Partial<Definition>): Definition {
  return defineFunction<unknown>({ name: 'sample', summary: 'for tests', config: z.object({}), ...parts });
}

export function watch(resource: Resource, parts: Partial<Watch> = {}): Watch {
  return { resource, mode: 'Reference', scope: 'cluster', handle: ignore, ...parts };
}

export function render(parts: Partial<Definition>): readonly Manifest[] {
  return renderFunction(sample(parts)).manifests;
}

export function ofKind(kind: string, manifests: readonly Manifest[]): readonly Manifest[] {
  return manifests.filter((manifest) => manifest.kind === kind);
}

export function placeOf({ metadata: { name, namespace } }: Manifest): string {
  return `${namespace ?? ''}/${name}`;
}
