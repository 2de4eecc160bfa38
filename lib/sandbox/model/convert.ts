import type { KubeObject } from '../../kube/model/wire.ts';
import { type Kind, apiVersionOf } from './kinds.ts';

/** Fields that core/v1 and events.k8s.io/v1 call differently. */
const eventFields = [
  ['involvedObject', 'regarding'],
  ['message', 'note'],
  ['reportingComponent', 'reportingController'],
  ['source', 'deprecatedSource'],
  ['firstTimestamp', 'deprecatedFirstTimestamp'],
  ['lastTimestamp', 'deprecatedLastTimestamp'],
  ['count', 'deprecatedCount'],
] as const;

const toNewEvent = new Map<string, string>(eventFields);
const toCoreEvent = new Map<string, string>(eventFields.map(([core, other]) => [other, core]));

/**
 * An object as the version that was asked for shows it. Versions of a custom kind differ in nothing but their name;
 * the two kinds of events are one kind under two names.
 */
export function inVersion(kind: Kind, object: KubeObject): KubeObject {
  const apiVersion = apiVersionOf(kind);
  if (object.apiVersion === apiVersion) {
    return object;
  }
  const named = { ...object, apiVersion };
  return kind.plural === 'events' ? renamed(named, kind.group === '' ? toCoreEvent : toNewEvent) : named;
}

/** An event with the field names of core/v1. */
export function asCoreEvent(event: KubeObject): KubeObject {
  return renamed(event, toCoreEvent);
}

/** True when the object's JSON serves this version as it is, but for its head. */
export function isStoredAs(kind: Kind, object: KubeObject): boolean {
  return kind.plural !== 'events' || object.apiVersion === apiVersionOf(kind);
}

function renamed(object: KubeObject, names: ReadonlyMap<string, string>): KubeObject {
  return Object.fromEntries(Object.entries(object).map(([name, value]) => [names.get(name) ?? name, value]));
}
