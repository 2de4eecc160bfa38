import { groupVersion } from '../kube/model/resource.ts';
import type { Subject, Trigger, Wake, Watch } from './triggers.ts';

/** Why a handler runs: a tick, or an event with or without an object. */
export interface Reason {
  readonly tick: boolean;
  readonly subject?: Subject;
}

/** Combines events of one object into one subject; the newest counts. */
export function gather(reasons: readonly Reason[]): Wake {
  const subjects = new Map<string, Subject>();
  for (const { subject } of reasons) {
    if (subject !== undefined) {
      subjects.set(identity(subject), subject);
    }
  }
  return { subjects: [...subjects.values()], tick: reasons.some(({ tick }) => tick) };
}

/** The same for every API version of an object. */
export function identity({ apiVersion, kind, namespace = '', name }: Subject): string {
  return `${groupVersion(apiVersion).group}/${kind}/${namespace}/${name}`;
}

/** The watches that match this object. */
export function watchesOf<C>(triggers: readonly Trigger<C>[], subject: Subject, ownNamespace: string): Watch<C>[] {
  const { group } = groupVersion(subject.apiVersion);
  return triggers
    .filter((trigger) => 'resource' in trigger)
    .filter(({ resource, names, scope }) => {
      const sameKind = resource.kind === subject.kind && resource.group === group;
      return sameKind && (names?.includes(subject.name) ?? true) && inScope(scope, subject.namespace, ownNamespace);
    });
}

function inScope(scope: Watch['scope'], namespace: string | undefined, own: string): boolean {
  if (scope === 'cluster' || namespace === undefined) {
    return true;
  }
  return scope === 'own' ? namespace === own : scope.namespaces.includes(namespace);
}
