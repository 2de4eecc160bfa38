import type { Kube } from '../../lib/kube/client.ts';
import { controllerRevisions, replicaSets, type Resource } from '../../lib/kube/model/resource.ts';
import { formatSelector, soundRequirements } from '../../lib/kube/model/selector.ts';
import type { KubeObject } from '../../lib/kube/model/wire.ts';
import { besides, type Change, type Workload } from './change.ts';
import { isRecord } from '../../lib/base/json.ts';
import { isSame } from './same.ts';

/** A ReplicaSet holds the template in its spec, a ControllerRevision a patch to it in its data. */
interface Revision extends KubeObject {
  readonly spec?: unknown;
  readonly data?: unknown;
}

/** Added to the template of every ReplicaSet by its Deployment. */
const hashLabel = 'pod-template-hash';

/** A scale is an action of its own, with rules of its own. */
const mayDiffer = ['template', 'replicas'];

/** Whether an update goes back to a template that the workload has had before, and does nothing else by the way. */
export async function goesBack(kube: Kube, namespace: string, { kind, workload, before }: Change): Promise<boolean> {
  const template = workload.spec?.['template'];
  if (before === undefined || kind === 'CronJob' || isSame(template, before.spec?.['template'])) {
    return false;
  }
  if (!isSame(besides(mayDiffer, workload), besides(mayDiffer, before))) {
    return false;
  }
  const revisions: Resource<Revision> = kind === 'Deployment' ? replicaSets : controllerRevisions;
  const { items } = await kube.list(revisions, { namespace, labelSelector: selectorOf(before) });
  return items
    .filter((revision) => isOwnedBy(revision, before.metadata.uid))
    .some((revision) => isSame(earlierTemplate(revision), template));
}

function selectorOf({ spec }: Workload): string {
  return formatSelector(soundRequirements(spec?.['selector'] ?? {}));
}

function isOwnedBy({ metadata }: KubeObject, uid: string | undefined): boolean {
  return metadata?.ownerReferences?.some((owner) => owner.controller === true && owner.uid === uid) ?? false;
}

function earlierTemplate(revision: Revision): unknown {
  const { spec } = isRecord(revision.data) ? revision.data : revision;
  const template = isRecord(spec) ? spec['template'] : undefined;
  if (!isRecord(template)) {
    return undefined;
  }
  const { $patch: _directive, metadata, ...rest } = template;
  const { labels, ...others } = isRecord(metadata) ? metadata : {};
  const { [hashLabel]: _hash, ...kept } = isRecord(labels) ? labels : {};
  return { ...rest, metadata: { ...others, labels: kept } };
}
