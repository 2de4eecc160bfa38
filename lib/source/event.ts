import { CloudEvent, HTTP } from 'cloudevents';
import type { Watch } from '../function/triggers.ts';
import { guessedPlural } from '../kube/model/resource.ts';
import type { KubeObject } from '../kube/model/wire.ts';

export type Change = 'add' | 'update' | 'delete';
export type Mode = Watch['mode'];

/** A CloudEvent as an HTTP request in binary mode. */
export interface Message {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** The sender: the watched API server, and the namespace of the source. */
export interface Origin {
  readonly server: URL;
  readonly namespace: string;
}

/** What is new in each send. Retries repeat it. */
export interface Stamp {
  readonly id: string;
  readonly time: Date;
}

export interface ChangedObject {
  readonly change: Change;
  /** With its `apiVersion` and `kind`. */
  readonly object: KubeObject;
}

/** Our attributes need no check, and an unusual object must still be reported. */
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

/** The event of a tick, as a PingSource of this name sends it, without data. */
export function tickEvent(name: string, namespace: string, { id, time }: Stamp): Message {
  const attributes = {
    id,
    time: time.toISOString(),
    type: 'dev.knative.sources.ping',
    source: `/apis/v1/namespaces/${namespace}/pingsources/${name}`,
  };
  return messageOf(new CloudEvent<unknown>(attributes, strict), namespace);
}

/** Reduces an object to its identity. */
export function bareObject({ apiVersion, kind, metadata: { name, namespace } = {} }: KubeObject): KubeObject {
  return {
    ...(apiVersion === undefined ? {} : { apiVersion }),
    ...(kind === undefined ? {} : { kind }),
    metadata: { ...(name === undefined ? {} : { name }), ...(namespace === undefined ? {} : { namespace }) },
  };
}

/** An ObjectReference without uid and resourceVersion, as the adapter sends it. */
function referenceTo({ apiVersion, kind, metadata: { name, namespace } = {} }: KubeObject): object {
  return { kind, ...(namespace === undefined ? {} : { namespace }), name, apiVersion };
}

/** Includes the port even if it is the default, which `URL` drops: the adapter sends `https://10.96.0.1:443`. */
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

/** Headers hold printable ASCII only; the CloudEvents HTTP binding percent-encodes everything else. */
function headerValue(text: string): string {
  return text.replace(/[^\x21-\x7e]+/g, (part) => encodeURIComponent(part.toWellFormed()));
}
