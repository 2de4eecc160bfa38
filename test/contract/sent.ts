import type { Watch } from '../../lib/function/triggers.ts';
import { apiVersion } from '../../lib/kube/model/resource.ts';
import { binaryEvent, structuredEvent, type Event, type Sent } from '../support/http.ts';

export const tick: Event = { type: 'dev.knative.sources.ping', data: {} };
export const cloudEventsJson = { 'content-type': 'application/cloudevents+json' };

export function json(event: unknown): Sent {
  return { headers: cloudEventsJson, body: JSON.stringify(event) };
}

export function structured(event: Event, contentType = 'application/cloudevents+json'): Sent {
  return { headers: { 'content-type': contentType }, body: JSON.stringify(structuredEvent(event)) };
}

export function batch(events: readonly Event[]): Sent {
  return {
    headers: { 'content-type': 'application/cloudevents-batch+json; charset=utf-8' },
    body: JSON.stringify(events.map(structuredEvent)),
  };
}

export function without(header: string): Sent {
  const { headers = {}, body } = binaryEvent(tick);
  const kept = Object.fromEntries(Object.entries(headers).filter(([name]) => name !== header));
  return { headers: kept, ...(body === undefined ? {} : { body }) };
}

export function withoutData({ data: _data, ...event }: Record<string, unknown>): Record<string, unknown> {
  return event;
}

export function changeEvent({ resource }: Watch, mode: 'ref' | 'resource', change: string): Event {
  const reference = {
    apiVersion: apiVersion(resource),
    kind: resource.kind,
    name: 'contract-object',
    namespace: resource.namespaced ? 'default' : '',
  };
  const whole = {
    apiVersion: reference.apiVersion,
    kind: reference.kind,
    metadata: { name: reference.name, namespace: reference.namespace },
  };
  return { type: `dev.knative.apiserver.${mode}.${change}`, ...reference, data: mode === 'ref' ? reference : whole };
}
