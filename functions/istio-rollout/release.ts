import type { Context } from '../../lib/function/definition.ts';
import { pointer, unchanged, type PatchStep } from '../../lib/kube/model/plan.ts';
import type { MetadataOnly } from '../../lib/kube/client.ts';
import { Refusal } from '../../lib/kube/refusal.ts';
import { failuresOf } from '../../lib/kube/run-each.ts';
import type { Resource } from '../../lib/kube/model/resource.ts';
import type { Config } from './config.ts';
import { bookkeeping } from './names.ts';
import { resources } from './scan/kinds.ts';

/**
 * Takes our notes off every workload. The annotation of the pod template stays, as `kubectl rollout restart` leaves its
 * own: without it the template would be another, and every pod would be replaced once more.
 */
export async function release({ kube }: Context<Config>): Promise<readonly string[]> {
  const noted = await Promise.all(
    Object.values(resources).map(async (resource: Resource) => {
      const { items } = await listed(kube, resource);
      return items.flatMap((object) => withoutNotes(resource, object) ?? []);
    }),
  );
  return (await failuresOf(kube, noted.flat())).map(({ message }) => message);
}

/** A kind that the cluster does not know has no objects. */
async function listed(kube: Context['kube'], resource: Resource): Promise<{ readonly items: readonly MetadataOnly[] }> {
  try {
    return await kube.listMetadata(resource);
  } catch (error) {
    if (error instanceof Refusal && error.code === 404) {
      return { items: [] };
    }
    throw error;
  }
}

function withoutNotes(resource: Resource, object: MetadataOnly): PatchStep | undefined {
  const { name = '', namespace = '', annotations = {} } = object.metadata;
  const ours = Object.values(bookkeeping).filter((note) => annotations[note] !== undefined);
  if (ours.length === 0) {
    return undefined;
  }
  const all = pointer('metadata', 'annotations');
  const gone = ours.length === Object.keys(annotations).length ? [all] : ours.map((note) => all + pointer(note));
  return {
    do: 'patch',
    resource,
    name,
    namespace,
    operations: [unchanged(object), ...gone.map((path) => ({ op: 'remove' as const, path }))],
    brief: true,
    why: 'leaving',
  };
}
