import type { KubeObject } from '../../kube/model/wire.ts';
import type { Caller, InternalApi } from '../model/internal.ts';
import { isEqual } from '../schema/value.ts';
import { type ControllerRevision, controllerRevisions } from './kinds.ts';
import { contentHash, controllerReference, type PodTemplate } from './template.ts';
import { removeObject } from './writes.ts';

/** A workload that keeps its templates as ControllerRevisions, which is what `kubectl rollout` shows and undoes. */
export interface Revised {
  readonly owner: KubeObject;
  readonly kind: 'StatefulSet' | 'DaemonSet';
  readonly template: PodTemplate;
  /** The label that carries the hash. */
  readonly hashLabel: string;
  readonly limit: number;
}

export interface Revisions {
  readonly all: readonly ControllerRevision[];
  readonly current: ControllerRevision;
  readonly hash: string;
}

/** Makes sure that the present template is the newest revision. */
export async function reviseTemplate(
  api: InternalApi,
  revised: Revised,
  known: readonly ControllerRevision[],
  as: Caller,
): Promise<Revisions> {
  const data = { spec: { template: { $patch: 'replace', ...revised.template } } };
  const all = known.toSorted((a, b) => a.revision - b.revision);
  const newest = all.at(-1)?.revision ?? 0;
  const found = all.find((each) => isEqual(each.data, data));
  if (found?.revision === newest) {
    return { all, current: found, hash: hashOf(revised, found) };
  }
  if (found !== undefined) {
    const current: ControllerRevision = { ...found, revision: newest + 1 };
    await api.update(controllerRevisions, current, {}, as);
    return { all, current, hash: hashOf(revised, found) };
  }
  const current = newRevision(revised, data, newest + 1);
  await api.create(controllerRevisions, current, as);
  return { all: [...all, current], current, hash: hashOf(revised, current) };
}

function hashOf({ hashLabel }: Revised, { metadata }: ControllerRevision): string {
  return metadata?.labels?.[hashLabel] ?? '';
}

function newRevision(revised: Revised, data: object, revision: number): ControllerRevision {
  const { owner, kind, template, hashLabel } = revised;
  const { name = '', namespace = '', annotations } = owner.metadata ?? {};
  const hash = contentHash(data);
  return {
    apiVersion: 'apps/v1',
    kind: 'ControllerRevision',
    metadata: {
      name: `${name}-${hash}`,
      namespace,
      labels: { ...template.metadata?.labels, [hashLabel]: hash },
      ...(annotations && { annotations: withoutApplied(annotations) }),
      ownerReferences: [controllerReference(owner, 'apps/v1', kind)],
    },
    data,
    revision,
  };
}

function withoutApplied(annotations: Readonly<Record<string, string>>): Record<string, string> {
  const { 'kubectl.kubernetes.io/last-applied-configuration': _applied, ...rest } = annotations;
  return rest;
}

/** Forgets the oldest revisions that no pod uses any more. */
export async function pruneRevisions(
  api: InternalApi,
  { limit }: Revised,
  { all, inUse }: { readonly all: readonly ControllerRevision[]; readonly inUse: ReadonlySet<string> },
  as: Caller,
): Promise<void> {
  const idle = all.filter(({ metadata }) => !inUse.has(metadata?.name ?? ''));
  for (const revision of idle.slice(0, Math.max(0, idle.length - limit))) {
    await removeObject(api, controllerRevisions, revision, as);
  }
}
