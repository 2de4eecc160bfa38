import type { Context, Reply, RouteRequest } from '../../lib/function/definition.ts';
import { Failure } from '../../lib/base/failure.ts';
import { configMaps } from '../../lib/kube/model/resource.ts';
import type { Config } from './config.ts';
import { explanationOf } from './decide-trace.ts';
import type { Asked } from './decide.ts';
import { know } from './knowledge.ts';
import { stateConfigMap } from './names.ts';
import { isRecord, recordOf, type Fields } from '../../lib/base/json.ts';
import { readState } from './state.ts';

/** Says what would happen to a pod, or to the request of an AdmissionReview, and why. Changes nothing. */
export async function explain({ body, query }: RouteRequest, context: Context<Config>): Promise<Reply> {
  const request = requestIn(body, query.get('namespace') ?? undefined);
  const { kube, namespace, config } = context;
  const stored = await kube.get(configMaps, { namespace, name: stateConfigMap });
  return { body: explanationOf(request, know(readState(stored?.data), config, context)) };
}

function requestIn(body: unknown, namespace: string | undefined): Asked {
  if (!isRecord(body)) {
    throw new Failure('malformed', 'send a Pod or an AdmissionReview as JSON');
  }
  const { kind, request } = body;
  if (kind === 'AdmissionReview' && isRecord(request)) {
    return request;
  }
  if (kind !== 'Pod') {
    throw new Failure('malformed', `send a Pod or an AdmissionReview, not kind ${JSON.stringify(kind ?? null)}`);
  }
  return {
    operation: 'CREATE',
    kind: { group: '', version: 'v1', kind: 'Pod' },
    resource: { group: '', version: 'v1', resource: 'pods' },
    namespace: namespace ?? ownNamespace(body),
    object: body,
  };
}

function ownNamespace({ metadata }: Fields): unknown {
  return recordOf(metadata)?.['namespace'] ?? 'default';
}
