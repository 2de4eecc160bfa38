import type { Context, Reply, Route, RouteRequest } from '../../../lib/function/definition.ts';
import { monotonicMs } from '../../../lib/base/monotonic.ts';
import { inParallel } from '../../../lib/base/in-parallel.ts';
import type { Config } from '../config.ts';
import { refusedAccess } from './access.ts';
import { evaluate, type Answer } from './evaluate.ts';
import { BadQuery, queriesOfBody, queryOfParameters, type Query } from './query.ts';

/** How many questions of a list are looked into at a time. */
const atOnce = 8;

/** The query API: what admission would say, for people and pipelines. */
export const queryRoutes: readonly Route<Config>[] = [
  {
    method: 'GET',
    path: '/v1/evaluate',
    handle: (request, context) =>
      answer('get', request, context, async () => reply(queryOfParameters(request.query), context)),
  },
  {
    method: 'POST',
    path: '/v1/evaluate',
    body: 'text',
    handle: (request, context) =>
      answer('post', request, context, async () => {
        const { isBatch, queries } = queriesOfBody(request.body);
        const [first] = queries;
        return isBatch || first === undefined ? replies(queries, context) : reply(first, context);
      }),
  },
];

/** One that can't be answered spares the others. */
function replies(queries: readonly Query[], context: Context<Config>): Promise<readonly unknown[]> {
  return inParallel(atOnce, queries, async (query) => {
    try {
      return await reply(query, context);
    } catch (error) {
      return { error: failureOf(error, context) };
    }
  });
}

async function answer(
  verb: 'get' | 'post',
  { authorization = '' }: RouteRequest,
  context: Context<Config>,
  respond: () => Promise<unknown>,
): Promise<Reply> {
  const started = monotonicMs();
  const refused = await refusedAccess(authorization, verb, context);
  if (refused !== undefined) {
    return { status: refused.status, body: { error: refused.error } };
  }
  try {
    return { body: await respond() };
  } catch (error) {
    return { status: error instanceof BadQuery ? 400 : 500, body: { error: failureOf(error, context) } };
  } finally {
    context.metrics.inherited
      .seconds('freeze_operator_api_latency_seconds', 'Time to answer a question.', {
        buckets: [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1],
      })
      .observe((monotonicMs() - started) / 1000);
  }
}

/** Counts it, and tells it. */
function failureOf(error: unknown, { metrics }: Context<Config>): string {
  metrics.inherited
    .counter('freeze_operator_api_errors_total', 'Questions that could not be answered.', ['error_type'])
    .add(1, { error_type: error instanceof BadQuery ? 'bad_request' : 'internal' });
  return error instanceof Error ? error.message : 'failed';
}

async function reply(query: Query, context: Context<Config>): Promise<Answer> {
  const answered = await evaluate(query, context);
  const { namespace, kind, action } = query;
  context.metrics.inherited
    .counter('freeze_operator_api_requests_total', 'Questions by answer.', ['decision', 'namespace', 'kind', 'action'])
    .add(1, { decision: answered.allow ? 'allow' : 'deny', namespace, kind, action });
  return answered;
}
