import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { matches, parseSelector } from '../../kube/model/selector.ts';
import { createTransport, type Transport } from '../../kube/transport.ts';
import type { KubeObject } from '../../kube/model/wire.ts';

/** A minimal API server with ConfigMaps only, whose connections break on command. */
export interface ScriptedApi {
  readonly transport: Transport;
  /** Path and query of every request, oldest first. */
  readonly requests: readonly string[];
  readonly put: (name: string, fields?: Fields) => void;
  readonly remove: (name: string, namespace?: string) => void;
  /** The existing objects that the selector matches: `namespace/name` → resourceVersion. */
  readonly state: (selector?: string) => ReadonlyMap<string, string>;
  readonly watches: () => number;
  /** Sends a bookmark to all watches. */
  readonly bookmark: () => void;
  /** Ends all watches: after a message, by a broken connection, or in the middle of a line. */
  readonly endWatches: (how: 'politely' | 'abruptly' | 'mid-line') => void;
  /** Drops the history so far: resuming from it yields 410. */
  readonly compact: () => void;
  /** Answers the next `times` requests with this status. */
  readonly refuse: (status: number, times: number) => void;
  readonly close: () => Promise<void>;
}

interface Fields {
  readonly namespace?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly data?: Readonly<Record<string, string>>;
}

interface Entry {
  readonly revision: number;
  readonly before?: KubeObject;
  readonly after?: KubeObject;
}

interface Watcher {
  readonly response: ServerResponse;
  readonly query: Query;
}

interface Query {
  readonly namespace: string | undefined;
  readonly selector: string;
}

export async function startScriptedApi({ pageSize = 500 } = {}): Promise<ScriptedApi> {
  const objects = new Map<string, KubeObject>();
  const history: Entry[] = [];
  const watchers = new Set<Watcher>();
  const requests: string[] = [];
  const refusals: number[] = [];
  const snapshots = new Map<string, { readonly revision: number; readonly items: readonly object[] }>();
  let revision = 100;
  let oldest = 0;

  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://api');
    requests.push(url.pathname + url.search);
    const refusal = refusals.shift();
    if (refusal !== undefined) {
      response.writeHead(refusal).end(statusText(refusal));
    } else if (url.searchParams.has('watch')) {
      openWatch(url, response);
    } else {
      sendPage(url, response);
    }
  });

  function openWatch(url: URL, response: ServerResponse): void {
    const from = Number(url.searchParams.get('resourceVersion'));
    response.writeHead(200, { 'content-type': 'application/json' });
    response.flushHeaders();
    if (from < oldest) {
      response.end(`{"type":"ERROR","object":${statusText(410)}}\n`);
      return;
    }
    const watcher = { response, query: queryOf(url) };
    watchers.add(watcher);
    response.on('close', () => watchers.delete(watcher));
    for (const entry of history.filter((candidate) => candidate.revision > from)) {
      send(watcher, entry);
    }
  }

  /** Later pages come from the state at the first page, as in a real server. */
  function sendPage(url: URL, response: ServerResponse): void {
    const [token = '', offset = '0'] = (url.searchParams.get('continue') ?? '').split(' ');
    const snapshot = snapshots.get(token) ?? { revision, items: itemsFor(queryOf(url)) };
    const start = Number(offset);
    const hasMore = start + pageSize < snapshot.items.length;
    const next = token === '' ? String(snapshots.size + 1) : token;
    if (hasMore) {
      snapshots.set(next, snapshot);
    }
    const metadata = {
      resourceVersion: String(snapshot.revision),
      ...(hasMore && { continue: `${next} ${start + pageSize}` }),
    };
    response.end(JSON.stringify({ metadata, items: snapshot.items.slice(start, start + pageSize) }));
  }

  /** Items of a list carry neither apiVersion nor kind. */
  function itemsFor(query: Query): object[] {
    return [...objects.values()]
      .filter((object) => isSeen(object, query))
      .map(({ apiVersion: _apiVersion, kind: _kind, ...content }) => content);
  }

  function record(key: string, after: KubeObject | undefined): void {
    const before = objects.get(key);
    const entry = { revision, ...(before && { before }), ...(after && { after }) };
    if (after === undefined) {
      objects.delete(key);
    } else {
      objects.set(key, after);
    }
    history.push(entry);
    for (const watcher of watchers) {
      send(watcher, entry);
    }
  }

  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const transport = createTransport(() => Promise.resolve({ server: address, tls: {}, headers: {} }));

  return {
    transport,
    requests,
    put: (name, { namespace = 'default', labels, data } = {}) => {
      revision += 1;
      const metadata = { name, namespace, resourceVersion: String(revision), ...(labels && { labels }) };
      record(`${namespace}/${name}`, { apiVersion: 'v1', kind: 'ConfigMap', metadata, ...(data && { data }) });
    },
    remove: (name, namespace = 'default') => {
      revision += 1;
      record(`${namespace}/${name}`, undefined);
    },
    state: (selector = '') =>
      new Map(
        [...objects]
          .filter(([, object]) => isSeen(object, { namespace: undefined, selector }))
          .map(([key, { metadata }]) => [key, metadata?.resourceVersion ?? '']),
      ),
    watches: () => watchers.size,
    bookmark: () => {
      const metadata = { resourceVersion: String(revision) };
      for (const { response } of watchers) {
        response.write(`${JSON.stringify({ type: 'BOOKMARK', object: { kind: 'ConfigMap', metadata } })}\n`);
      }
    },
    endWatches: (how) => {
      for (const { response } of watchers) {
        end(response, how);
      }
      watchers.clear();
    },
    compact: () => {
      revision += 1;
      oldest = revision;
      history.length = 0;
    },
    refuse: (status, times) => refusals.push(...Array.from({ length: times }, () => status)),
    close: async () => {
      transport.close();
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function queryOf({ pathname, searchParams }: URL): Query {
  return {
    namespace: /\/namespaces\/([^/]+)\//.exec(pathname)?.[1],
    selector: searchParams.get('labelSelector') ?? '',
  };
}

function isSeen({ metadata }: KubeObject, { namespace, selector }: Query): boolean {
  return (
    (namespace === undefined || namespace === metadata?.namespace) && matches(parseSelector(selector), metadata?.labels)
  );
}

/** The event that one watcher sees: an object that begins to match is added, one that ceases to match is deleted. */
function send({ response, query }: Watcher, { revision, before, after }: Entry): void {
  const was = before !== undefined && isSeen(before, query);
  const is = after !== undefined && isSeen(after, query);
  if (is) {
    response.write(`${JSON.stringify({ type: was ? 'MODIFIED' : 'ADDED', object: after })}\n`);
  } else if (was) {
    const metadata = { ...before.metadata, resourceVersion: String(revision) };
    response.write(`${JSON.stringify({ type: 'DELETED', object: { ...before, metadata } })}\n`);
  }
}

function end(response: ServerResponse, how: 'politely' | 'abruptly' | 'mid-line'): void {
  if (how === 'politely') {
    response.end();
  } else if (how === 'abruptly') {
    response.destroy();
  } else {
    response.write('{"type":"ADDED","object":{"metadata":{"name":"ha', () => response.destroy());
  }
}

function statusText(code: number): string {
  return JSON.stringify({ kind: 'Status', apiVersion: 'v1', status: 'Failure', code, message: `refused: ${code}` });
}
