import type { IncomingMessage } from 'node:http';
import { Failure } from '../base/failure.ts';
import { pathOf } from './path.ts';
import { Refusal, refusalOf } from './refusal.ts';
import type { Resource } from './model/resource.ts';
import { collect, type Transport } from './transport.ts';
import type { KubeObject, Status } from './model/wire.ts';

export interface WatchOptions {
  readonly transport: Transport;
  readonly signal: AbortSignal;
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
  /** Where to resume: the resourceVersion of a list or of the last event. */
  readonly resourceVersion: string;
  /** After this time without data the connection counts as broken. Bookmarks arrive about every minute. */
  readonly silenceMs?: number;
}

export interface WatchEvent<T extends KubeObject = KubeObject> {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK';
  readonly object: T;
}

/** The server ends a watch after this time, before proxies do (some cut connections after five minutes). */
const watchSeconds = 290;

/**
 * Sends one watch request and yields its events. Ends when the server ends the watch. Throws a `Refusal` of code 410 if
 * the resourceVersion has expired, and a `Failure` if the connection breaks or goes silent.
 */
export async function* watch<T extends KubeObject>(
  resource: Resource<T>,
  { transport, signal, namespace, labelSelector, resourceVersion, silenceMs = 120_000 }: WatchOptions,
): AsyncGenerator<WatchEvent<T>, void, undefined> {
  const what = `watch ${resource.plural}`;
  const path = pathOf(
    resource,
    { namespace },
    {
      watch: 'true',
      allowWatchBookmarks: 'true',
      timeoutSeconds: String(watchSeconds),
      resourceVersion,
      labelSelector,
    },
  );
  const request = { method: 'GET', path, signal } as const;
  const response = await transport.stream(request);
  if (response.statusCode !== 200) {
    throw refusalOf(what, await collect(response, request, silenceMs));
  }
  for await (const line of lines(response, { what, silenceMs })) {
    const event = JSON.parse(line) as WatchEvent<T> | { readonly type: 'ERROR'; readonly object: Status };
    if (event.type === 'ERROR') {
      throw expired(what, event.object);
    }
    yield event;
  }
}

function expired(what: string, { code = 500, message = '', reason = '' }: Status): Refusal {
  return new Refusal('unavailable', `could not ${what}: ${message}`, { code, reason });
}

async function* lines(
  response: IncomingMessage,
  { what, silenceMs }: { readonly what: string; readonly silenceMs: number },
): AsyncGenerator<string, void, undefined> {
  response.setEncoding('utf8');
  const alarm = setTimeout(
    () => response.destroy(new Failure('unavailable', `could not ${what}: the connection went silent`)),
    silenceMs,
  );
  let rest = '';
  try {
    for await (const chunk of response) {
      alarm.refresh();
      const parts = (rest + (chunk as string)).split('\n');
      rest = parts.pop() ?? '';
      yield* parts.filter((part) => part !== '');
    }
  } catch (error) {
    throw error instanceof Failure
      ? error
      : new Failure('unavailable', `could not ${what}: the connection broke`, { cause: error });
  } finally {
    clearTimeout(alarm);
    response.destroy();
  }
}
