import { Failure } from '../base/failure.ts';
import { isRecord } from '../base/json.ts';
import type { Conditions } from '../function/conditions.ts';
import type { Reply, Route } from '../function/definition.ts';
import { sendFailure } from '../http/answer.ts';
import type { Answerer } from '../http/front.ts';
import type { InstanceOptions } from './instance.ts';
import { logFailure, type Runner } from './runner.ts';

/** The function's own routes, `/doctor`, and `/status` with the current conditions. */
export function functionRoutes<C>(
  { definition, settings, metrics, log, bodies }: InstanceOptions<C>,
  runner: Runner<C>,
): Answerer {
  const limitMs = settings.TIMEOUT_SECONDS * 1000;
  return lazily(async () => {
    const [{ createRoutes }, { doctorRoute }] = await Promise.all([
      import('../http/routes.ts'),
      import('./doctor/route.ts'),
    ]);
    const doctor = doctorRoute<C>({ definition, role: settings.ROLE, registry: metrics.registry });
    const examination: Route<C> = {
      ...doctor,
      handle: (request) => doctor.handle(request, runner.context(AbortSignal.timeout(limitMs), { notesRights: false })),
    };
    return createRoutes({
      routes: [...withConditions(definition.routes ?? [], runner.conditions), examination],
      bodies,
      context: () => runner.context(AbortSignal.timeout(limitMs)),
      onFailure: (path, failure) => logFailure(log, failure, { path }),
    });
  });
}

const statusPath = '/status';

/** Adds the conditions to the `/status` of a function, or creates the route. */
function withConditions<C>(routes: readonly Route<C>[], conditions: Conditions): readonly Route<C>[] {
  function extended({ body, ...reply }: Reply): Reply {
    const complete = isRecord(body) && !('conditions' in body) ? { ...body, conditions: conditions.standing() } : body;
    return { ...reply, body: complete };
  }
  const own = routes.map((route): Route<C> =>
    route.path === statusPath && route.method === 'GET'
      ? { ...route, handle: async (request, context) => extended(await route.handle(request, context)) }
      : route,
  );
  return own.some(({ path }) => path === statusPath)
    ? own
    : [...own, { method: 'GET', path: statusPath, handle: () => extended({ body: {} }) }];
}

/** Loads express at the first request that needs it instead of at every start. */
function lazily(load: () => Promise<Answerer>): Answerer {
  let loaded: Promise<Answerer> | undefined;
  return (request, response) => {
    loaded ??= load();
    loaded.then(
      (answer) => answer(request, response),
      (error: unknown) => {
        loaded = undefined;
        sendFailure(response, new Failure('unavailable', 'could not load the routes', { cause: error }));
      },
    );
  };
}
