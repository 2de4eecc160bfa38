import { isRecord } from '../base/json.ts';
import type { IncomingHttpHeaders } from 'node:http';
import type { CloudEvent } from 'cloudevents';
import type { Subject } from '../function/triggers.ts';
import { Failure } from '../base/failure.ts';

/** What an event means to a function, regardless of its sender. */
export type Signal =
  | { readonly what: 'change'; readonly subject: Subject }
  | { readonly what: 'tick' }
  | { readonly what: 'other'; readonly type: string };

const apiServerEvent = /^dev\.knative\.apiserver\.(ref|resource)\.(add|update|delete)$/;
const pingEvent = 'dev.knative.sources.ping';

/** The API server's own rules for names in a path and for namespaces. */
const pathSegment = /^(?!\.{1,2}$)[^/%\s]{1,253}$/;
const namespaceName = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;

export function signalOf(event: CloudEvent<unknown>): Signal {
  if (event.type === pingEvent) {
    return { what: 'tick' };
  }
  const [, mode, change] = apiServerEvent.exec(event.type) ?? [];
  if (mode === undefined) {
    return { what: 'other', type: event.type };
  }
  return { what: 'change', subject: subjectOf(event, mode === 'resource', change as Subject['change']) };
}

/** OpenFaaS ticks with an empty POST; only a header identifies it. */
export function isCronConnector(headers: IncomingHttpHeaders): boolean {
  return headers['x-connector'] === 'cron-connector';
}

function subjectOf(event: CloudEvent<unknown>, whole: boolean, change: Subject['change']): Subject {
  const { kind, apiversion, name, namespace } = event;
  if (!isText(kind) || !isText(apiversion) || !isText(name)) {
    throw new Failure('malformed', 'an API server event needs the extensions kind, apiversion and name');
  }
  if (!pathSegment.test(name)) {
    throw new Failure('malformed', 'extension name is not the name of an object');
  }
  // Cluster-scoped kinds arrive with an empty namespace.
  const inNamespace = isText(namespace);
  if (inNamespace && !namespaceName.test(namespace)) {
    throw new Failure('malformed', 'extension namespace is not the name of a namespace');
  }
  return {
    change,
    kind,
    apiVersion: apiversion,
    name,
    ...(inNamespace ? { namespace } : {}),
    ...(whole && isRecord(event.data) ? { object: event.data } : {}),
  };
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}
