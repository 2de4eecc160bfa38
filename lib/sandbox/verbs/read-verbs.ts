import { type Call, renderingOf } from './call.ts';
import type { Answer } from '../http/respond.ts';
import { listPage } from '../read/list.ts';
import { parseListQuery } from '../read/list-options.ts';
import { renderPage, renderStored } from '../read/render.ts';
import { badRequest, tooLargeResourceVersion } from '../model/status.ts';
import { streamWatch } from '../read/watch.ts';
import { liveObject } from '../write/write.ts';

export function getObject(call: Call): Answer {
  const { cluster, kind, request, query } = call;
  assertReached(query.get('resourceVersion') ?? '', cluster.store.revision);
  const stored = liveObject(cluster, { kind, ...request });
  return { code: 200, text: renderStored(renderingOf(call), stored) };
}

export function listObjects(call: Call): Answer {
  const { cluster, kind, request, query } = call;
  const page = listPage(cluster.store, kind, parseListQuery(kind, request, query));
  return { code: 200, text: renderPage(renderingOf(call), page) };
}

export async function watchObjects(call: Call): Promise<undefined> {
  const { cluster, kind, request, query, response, signal } = call;
  const listQuery = parseListQuery(kind, request, query);
  response.statusCode = 200;
  response.setHeader('content-type', 'application/json');
  const rendering = renderingOf(call);
  await streamWatch({
    store: cluster.store,
    kind,
    query: listQuery,
    rendering: () => ({ ...rendering, now: cluster.clock.now() }),
    response,
    signal,
  });
}

function assertReached(version: string, revision: number): void {
  if (version !== '' && !/^\d{1,15}$/.test(version)) {
    const why = `strconv.ParseUint: parsing ${JSON.stringify(version)}: invalid syntax`;
    throw badRequest(`invalid resource version: resourceVersion: Invalid value: ${JSON.stringify(version)}: ${why}`);
  }
  if (Number(version) > revision) {
    throw tooLargeResourceVersion(Number(version), revision);
  }
}
