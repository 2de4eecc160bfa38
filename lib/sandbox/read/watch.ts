import type { ServerResponse } from 'node:http';
import type { KubeObject } from '../../kube/model/wire.ts';
import type { EventType } from '../model/internal.ts';
import { type Kind, apiVersionOf } from '../model/kinds.ts';
import { type ListQuery, selects } from './list-options.ts';
import { type Rendering, renderStored } from './render.ts';
import type { Change, Shelf } from '../store/shelf.ts';
import { expired } from '../model/status.ts';
import type { Store } from '../store/store.ts';
import type { Stored } from '../store/stored.ts';

export interface WatchOptions {
  readonly store: Store;
  readonly kind: Kind;
  readonly query: ListQuery;
  readonly rendering: () => Rendering;
  readonly response: ServerResponse;
  readonly signal: AbortSignal;
}

/** As long as the API server lets a watch run that names no end, in seconds. */
const longestSeconds = 1800;
const bookmarkMs = 60_000;
/** A client that leaves so much unread is cut off, as the API server does, so that it cannot fill the memory. */
const unreadLimit = 64 * 1024 * 1024;

/** Streams the changes that the query selects until the client leaves, the time is up or the sandbox closes. */
export async function streamWatch(options: WatchOptions): Promise<void> {
  const { store, kind, query, response, signal } = options;
  response.flushHeaders();
  if (!sendPast(options, store.shelf(kind))) {
    response.end();
    return;
  }
  const { promise: ended, resolve } = Promise.withResolvers<undefined>();
  const stops = [
    store.listen(kind, (change) => {
      sendChange(options, change);
      if (response.writableLength > unreadLimit) {
        end();
      }
    }),
    every(bookmarkMs, () => query.wantsBookmarks && sendBookmark(options)),
    every(Math.max(1, query.timeoutSeconds ?? longestSeconds) * 1000, end),
  ];
  function end(): void {
    resolve(undefined);
  }
  response.once('close', end);
  signal.addEventListener('abort', end, { once: true });
  await ended;
  for (const stop of stops) {
    stop();
  }
  signal.removeEventListener('abort', end);
  if (query.wantsBookmarks) {
    sendBookmark(options);
  }
  response.end();
}

function every(ms: number, work: () => void): () => void {
  const timer = setInterval(work, ms);
  return () => clearInterval(timer);
}

/** Sends the past changes; false if the history no longer holds them. */
function sendPast(options: WatchOptions, shelf: Shelf): boolean {
  const { store, query } = options;
  const { resourceVersion = 0, sendsInitialEvents } = query;
  if (sendsInitialEvents === true || (resourceVersion === 0 && sendsInitialEvents !== false)) {
    sendState(options, shelf);
    if (sendsInitialEvents === true && query.wantsBookmarks) {
      sendBookmark(options, { 'k8s.io/initial-events-end': 'true' });
    }
    return true;
  }
  const missed = shelf.since(resourceVersion === 0 ? store.revision : resourceVersion);
  if (missed === undefined) {
    const { status } = expired(`too old resource version: ${resourceVersion} (${shelf.oldest})`);
    write(options, `{"type":"ERROR","object":${JSON.stringify(status)}}\n`);
    return false;
  }
  for (const change of missed) {
    sendChange(options, change);
  }
  return true;
}

function sendState(options: WatchOptions, shelf: Shelf): void {
  const { query } = options;
  const range = query.namespace === undefined ? {} : { namespace: query.namespace };
  for (const stored of shelf.range(range)) {
    if (selects(query, stored.object)) {
      send(options, 'ADDED', stored);
    }
  }
}

/** A change as this watch sees it: an object may come into its selection or leave it. */
function sendChange(options: WatchOptions, { type, current, previous, revision }: Change): void {
  const { query } = options;
  if (revision <= (query.resourceVersion ?? 0) || !isInNamespace(query, current)) {
    return;
  }
  const was = previous !== undefined && selects(query, previous.object);
  const is = type !== 'DELETED' && selects(query, current.object);
  if (is) {
    send(options, was ? 'MODIFIED' : 'ADDED', current);
  } else if (was) {
    send(options, 'DELETED', type === 'DELETED' ? current : departed(previous, current));
  }
}

/** An object that left the selection is sent as it last was inside, with the revision of its leaving. */
function departed(previous: Stored, { revision }: Stored): Stored {
  const metadata = { ...previous.object.metadata, resourceVersion: String(revision) };
  return { ...previous, revision, object: { ...previous.object, metadata }, json: undefined };
}

function isInNamespace({ namespace }: ListQuery, { key }: Stored): boolean {
  return namespace === undefined || key.startsWith(`${namespace}/`);
}

function send(options: WatchOptions, type: EventType, stored: Stored): void {
  write(options, `{"type":"${type}","object":${renderStored(options.rendering(), stored)}}\n`);
}

function sendBookmark(options: WatchOptions, annotations?: Record<string, string>): void {
  const { kind, store } = options;
  const object: KubeObject = {
    kind: kind.kind,
    apiVersion: apiVersionOf(kind),
    metadata: { resourceVersion: String(store.revision), ...(annotations && { annotations }) },
  };
  write(options, `{"type":"BOOKMARK","object":${JSON.stringify(object)}}\n`);
}

function write({ response }: WatchOptions, line: string): void {
  if (!response.destroyed && !response.writableEnded) {
    response.write(line);
  }
}
