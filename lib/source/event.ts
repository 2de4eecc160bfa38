import { CloudEvent, HTTP } from 'cloudevents';
import type { Watch } from '../function/triggers.ts';
import { guessedPlural } from '../kube/model/resource.ts';
import type { KubeObject } from '../kube/model/wire.ts';

export type Change = 'add' | 'update' | 'delete';
export type Mode = Watch['mode'];

/** One CloudEvent as an HTTP request carries it in binary mode. */
export interface Message {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Who sends: the API server that is watched, and the namespace that the source belongs to. */
export interface Origin {
  readonly server: URL;
  readonly namespace: string;
}

/** What is new in each send. Retries of one send repeat it. */
export interface Stamp {
  readonly id: string;
  readonly time: Date;
}

export interface ChangedObject {
  readonly change: Change;
  /** Carries its own `apiVersion` and `kind`. */
  readonly object: KubeObject;
}

/** Our own attributes need no check, and an object, however odd, is to be reported and never an error. */
const strict = false;

/** The event of a change, exactly as ApiServerSource sends it. */
export function changeEvent(
  { change, object }: ChangedObject,
  mode: Mode,
  { server, namespace: sender }: Origin,
  { id, time }: Stamp,
): Message {
  const { apiVersion = '', kind = '', metadata: { name = '', namespace = '' } = {} } = object;
  const attributes = {
    id,
    time: time.toISOString(),
    type: `dev.knative.apiserver.${mode === 'Reference' ? 'ref' : 'resource'}.${change}`,
    source: addressOf(server),
    subject: `/apis/${apiVersion}/namespaces/${namespace}/${guessedPlural(kind)}/${name}`,
    datacontenttype: 'application/json',
    kind,
    apiversion: apiVersion,
    name,
    namespace,
    data: mode === 'Reference' ? referenceTo(object) : object,
  };
  return messageOf(new CloudEvent<unknown>(attributes, strict), sender);
}

/** The event of a schedule, as a PingSource of this name sends it. It carries no data. */
export function tickEvent(name: string, namespace: string, { id, time }: Stamp): Message {
  const attributes = {
    id,
    time: time.toISOString(),
    type: 'dev.knative.sources.ping',
    source: `/apis/v1/namespaces/${namespace}/pingsources/${name}`,
  };
  return messageOf(new CloudEvent<unknown>(attributes, strict), namespace);
}

/** The object reduced to what names it. */
export function bareObject({ apiVersion, kind, metadata: { name, namespace } = {} }: KubeObject): KubeObject {
  return {
    ...(apiVersion === undefined ? {} : { apiVersion }),
    ...(kind === undefined ? {} : { kind }),
    metadata: { ...(name === undefined ? {} : { name }), ...(namespace === undefined ? {} : { namespace }) },
  };
}

/** An ObjectReference without uid and resourceVersion: the adapter fills in no more than this. */
function referenceTo({ apiVersion, kind, metadata: { name, namespace } = {} }: KubeObject): object {
  return { kind, ...(namespace === undefined ? {} : { namespace }), name, apiVersion };
}

/** With its port, which `URL` drops where it is the default: in a cluster the adapter says `https://10.96.0.1:443`. */
function addressOf({ protocol, hostname, port, pathname }: URL): string {
  const explicitPort = port === '' ? (protocol === 'https:' ? '443' : '80') : port;
  return `${protocol}//${hostname}:${explicitPort}${pathname.replace(/\/$/, '')}`;
}

function messageOf(event: CloudEvent<unknown>, sender: string): Message {
  const { headers, body } = HTTP.binary(event);
  const bodyText = typeof body === 'string' ? body : '';
  const sent = Object.entries({ ...headers, 'kn-namespace': sender }).filter(
    ([name]) => bodyText !== '' || name !== 'content-type',
  );
  return {
    headers: Object.fromEntries(sent.map(([name, value]) => [name, headerValue(String(value))])),
    body: bodyText,
  };
}

/** A header holds printable ASCII only; the CloudEvents HTTP binding percent-encodes the rest as UTF-8. */
function headerValue(text: string): string {
  return text.replace(/[^\x21-\x7e]+/g, (part) => encodeURIComponent(part.toWellFormed()));
}
