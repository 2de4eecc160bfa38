import type { IncomingHttpHeaders } from 'node:http';
import { CloudEvent } from 'cloudevents';
import { Failure } from '../base/failure.ts';
import { assertAttributes, type Attributes } from './attributes.ts';
import { parseBody } from './body.ts';

/**
 * The events of one HTTP request in binary, structured or batched mode, each with its own decoder. Throws `malformed`
 * with the reason. Does not use the SDK for this, because it invents a missing id and time, accepts any specversion,
 * and supports neither upper-case media types, percent-encoded headers nor the bytes of `data_base64`.
 */
export function decodeEvents(headers: IncomingHttpHeaders, body: Buffer): readonly (() => CloudEvent<unknown>)[] {
  const mediaType = mediaTypeOf(headers['content-type']);
  if (mediaType === 'application/cloudevents-batch+json') {
    const batch = parseBody(body);
    if (!Array.isArray(batch)) {
      throw new Failure('malformed', 'a batch must be a JSON array of events');
    }
    return batch.map((event) => () => structured(event));
  }
  if (mediaType === 'application/cloudevents+json') {
    const event = parseBody(body);
    return [() => structured(event)];
  }
  if (mediaType.startsWith('application/cloudevents')) {
    throw new Failure('malformed', `event format ${mediaType} is not supported, send application/cloudevents+json`);
  }
  return [() => binary(headers, mediaType, body)];
}

function mediaTypeOf(contentType: string | undefined): string {
  return (contentType ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
}

function isJson(mediaType: string): boolean {
  return mediaType === 'application/json' || mediaType.endsWith('+json');
}

function binary(headers: IncomingHttpHeaders, mediaType: string, body: Buffer): CloudEvent<unknown> {
  const attributes: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (name.startsWith('ce-')) {
      attributes[name.slice(3)] = decodeHeader(name, String(value));
    }
  }
  if (Object.keys(attributes).length === 0) {
    throw new Failure('malformed', 'not a CloudEvent: neither ce-* headers nor a CloudEvents content type');
  }
  return validated({
    ...attributes,
    ...(mediaType === '' ? {} : { datacontenttype: mediaType }),
    ...(body.length === 0 ? {} : { data: isJson(mediaType) ? parseBody(body) : body.toString() }),
  });
}

/** Values other than printable ASCII are percent-encoded. */
function decodeHeader(name: string, value: string): string {
  try {
    return decodeURIComponent(value);
  } catch (error) {
    throw new Failure('malformed', `header ${name} is not percent-encoded UTF-8`, { cause: error });
  }
}

function structured(event: unknown): CloudEvent<unknown> {
  if (typeof event !== 'object' || event === null || Array.isArray(event)) {
    throw new Failure('malformed', 'an event must be a JSON object');
  }
  const { data_base64: encoded, ...attributes } = event as Attributes;
  if (encoded === undefined) {
    return validated(attributes);
  }
  if (typeof encoded !== 'string' || 'data' in attributes) {
    throw new Failure('malformed', 'data_base64 must be a string and excludes data');
  }
  const bytes = Buffer.from(encoded, 'base64');
  const { datacontenttype = 'application/json' } = attributes;
  const json = typeof datacontenttype === 'string' && isJson(mediaTypeOf(datacontenttype));
  return validated({ ...attributes, data: json ? parseBody(bytes) : bytes.toString() });
}

function validated(attributes: Attributes): CloudEvent<unknown> {
  assertAttributes(attributes);
  try {
    return new CloudEvent(attributes, false);
  } catch (error) {
    throw new Failure('malformed', 'event attributes are not valid', { cause: error });
  }
}
