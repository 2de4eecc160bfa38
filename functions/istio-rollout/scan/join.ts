import type { Code } from './code.ts';
import type { Link, Observed } from './observe.ts';
import type { PodView } from './pod.ts';
import type { Workload } from './workload.ts';

/** A workload and its live pods. */
export interface Staffed {
  readonly workload: Workload;
  /** Pods of the present template. */
  readonly current: readonly PodView[];
  /** Pods of an older one, which are on their way out or held back. */
  readonly older: readonly PodView[];
  /** The direct owner of the current pods, where that is not the workload. */
  readonly link?: Link;
}

/** A pod that belongs to no workload that could be restarted. */
export interface Stray {
  readonly pod: PodView;
  readonly code: Extract<Code, 'Unmanaged' | 'Job' | 'UnsupportedOwner' | 'OwnerGone'>;
}

/** Finds the workload of each pod by the uids of controlling owners. */
export function join(observed: Observed): { readonly staffed: readonly Staffed[]; readonly strays: readonly Stray[] } {
  const { workloads, links, pods, unreadable } = observed;
  const byUid = new Map(workloads.map((workload) => [workload.uid, workload]));
  const staff = new Map<string, Member[]>(workloads.map(({ uid }) => [uid, []]));
  const strays: Stray[] = [];
  for (const pod of pods) {
    const { owner, link } = ownerOf(pod, links);
    const members = owner === undefined ? undefined : staff.get(owner.uid);
    if (members === undefined) {
      strays.push({ pod, code: strayCode(pod, owner?.kind, unreadable) });
    } else {
      members.push({ pod, ...(link && { link }) });
    }
  }
  const staffed = [...byUid].map(([uid, workload]) => staffedWith(workload, staff.get(uid) ?? [], links));
  return { staffed, strays };
}

interface Member {
  readonly pod: PodView;
  readonly link?: Link;
}

/** A ReplicaSet without an owner is what owns its pods. */
function ownerOf(
  { owner }: PodView,
  links: Observed['links'],
): { readonly owner?: Pick<Link, 'uid'> & { readonly kind: string }; readonly link?: Link } {
  const link = owner === undefined ? undefined : links.get(owner.uid);
  if (link?.owner !== undefined) {
    return { owner: link.owner, link };
  }
  return owner === undefined ? {} : { owner };
}

const restartable = ['Deployment', 'StatefulSet', 'DaemonSet'];

function strayCode({ owner }: PodView, kind: string | undefined, unreadable: Observed['unreadable']): Stray['code'] {
  if (owner === undefined) {
    return 'Unmanaged';
  }
  if (owner.kind === 'Job') {
    return 'Job';
  }
  const isReadable =
    kind !== undefined && restartable.includes(kind) && !(unreadable as readonly string[]).includes(kind);
  return isReadable ? 'OwnerGone' : 'UnsupportedOwner';
}

function staffedWith(workload: Workload, members: readonly Member[], links: Observed['links']): Staffed {
  const revision = workload.revision ?? newestRevision(workload, links);
  const isCurrent = members.map(({ pod, link }) => isOfPresentTemplate({ ...workload, revision }, pod, link));
  const link = members.find((_member, index) => isCurrent[index])?.link;
  return {
    workload,
    current: members.filter((_member, index) => isCurrent[index]).map(({ pod }) => pod),
    older: members.filter((_member, index) => isCurrent[index] !== true).map(({ pod }) => pod),
    ...(link && { link }),
  };
}

function isOfPresentTemplate({ kind, revision, restartAt }: Workload, pod: PodView, link: Link | undefined): boolean {
  switch (kind) {
    case 'Deployment':
      return link?.revision !== undefined && link.revision === revision;
    case 'StatefulSet':
      return pod.revisionHash !== undefined && pod.revisionHash === revision;
    case 'DaemonSet':
      return revision !== undefined && (pod.templateGeneration ?? pod.revisionHash) === revision;
    case 'Rollout':
      return restartAt === undefined || pod.createdAt >= Date.parse(restartAt); // it recreates pods in place
    case 'ReplicaSet':
    case 'ReplicationController':
      return true;
  }
}

/** A DaemonSet without the annotation is as its newest ControllerRevision says. */
function newestRevision({ kind, uid }: Workload, links: Observed['links']): string | undefined {
  if (kind !== 'DaemonSet') {
    return undefined;
  }
  const own = [...links.values()].filter((link) => link.kind === 'ControllerRevision' && link.owner?.uid === uid);
  return own.sort((a, b) => b.createdAt - a.createdAt)[0]?.hash;
}
