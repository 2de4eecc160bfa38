import { digest } from '../../base/digest.ts';
import type { EventStep } from './plan.ts';
import { apiVersion, type Resource } from './resource.ts';
import type { KubeObject } from './wire.ts';

/** The content of an Event. */
export type News = Pick<EventStep, 'type' | 'reason' | 'note' | 'occasion'>;

/**
 * The step that emits an Event about an object. Items of a list do not carry their kind, so the resource is passed,
 * too.
 */
export function eventAbout(
  resource: Pick<Resource, 'group' | 'version' | 'kind'>,
  { metadata }: Pick<KubeObject, 'metadata'>,
  news: News,
): EventStep {
  const about = {
    apiVersion: apiVersion(resource),
    kind: resource.kind,
    ...(metadata === undefined ? {} : { metadata }),
  };
  return { do: 'event', about, ...news };
}

/** The same news about the same object has the same name, so a repeated emit writes nothing while the Event exists. */
export function eventName({ about, type, reason, note, occasion }: EventStep): string {
  const name = (about.metadata?.name ?? '').slice(0, 230);
  return `${name}.${digest(JSON.stringify([about.metadata?.uid, type, reason, occasion ?? note]), 16)}`;
}

/** In bytes; the API server refuses longer notes. */
const longestNote = 1024;

/** The Event as the API server stores it. */
export function eventOf(step: EventStep, fieldManager: string, now: Date): KubeObject & Record<string, unknown> {
  const { about, type, reason, note } = step;
  const { name, namespace, uid, resourceVersion } = about.metadata ?? {};
  return {
    metadata: { name: eventName(step), namespace: namespace ?? 'default' },
    eventTime: now.toISOString().replace('Z', '000Z'),
    reportingController: fieldManager,
    reportingInstance: fieldManager.slice(-128),
    action: reason,
    regarding: { apiVersion: about.apiVersion, kind: about.kind, name, namespace, uid, resourceVersion },
    type,
    reason,
    note: shortened(note),
  };
}

/** Cuts between characters, not inside one. */
function shortened(note: string): string {
  const bytes = Buffer.from(note).subarray(0, longestNote);
  return bytes.toString().replace(/\uFFFD+$/, '');
}
