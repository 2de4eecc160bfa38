import type { IncomingMessage, ServerResponse } from 'node:http';
import { sendText } from '../http/answer.ts';
import { pathOf, type Answerer } from '../http/front.ts';
import type { Instance } from './instance.ts';
import type { Metrics } from './metrics.ts';

export interface Common {
  /** Why the process is not ready; `undefined` if it is. */
  readonly problem: () => Promise<string | undefined>;
  readonly metrics: Metrics;
}

/** Answers requests on the plain port: health and metrics of the process, events and routes of its functions. */
export function plainSurface(instances: readonly Instance[], common: Common): Answerer {
  const answer = routeToInstances(instances, (instance) => instance.answer);
  function measure(): Promise<unknown> {
    return Promise.all(instances.map((instance) => instance.measure()));
  }
  return (request, response) => {
    if (!answerCommon(request, response, { ...common, measure })) {
      answer(request, response);
    }
  };
}

/** Answers health and metrics, which all functions of the process share. */
function answerCommon(
  request: IncomingMessage,
  response: ServerResponse,
  { problem, metrics, measure }: Common & { readonly measure: () => Promise<unknown> },
): boolean {
  switch (pathOf(request)) {
    case '/health/liveness':
    case '/healthz':
    case '/livez':
    case '/_/health':
      sendText(response, 200, 'ok');
      return true;
    case '/health/readiness':
    case '/readyz':
    case '/_/ready':
      void problem().then((why) => sendText(response, why === undefined ? 200 : 503, why ?? 'ok'));
      return true;
    case '/metrics':
      void measure()
        .then(() => metrics.registry.metrics())
        .then((text) => response.writeHead(200, { 'content-type': metrics.registry.contentType }).end(text));
      return true;
    default:
      return false;
  }
}

/** A single function answers at `/` and also at `/<function>`, so that the same curl works everywhere. */
function routeToInstances(instances: readonly Instance[], answererOf: (instance: Instance) => Answerer): Answerer {
  return (request, response) => {
    const { url = '/' } = request;
    const [, first = ''] = url.split(/[/?]/, 2);
    const named = instances.find(({ name }) => name === first);
    const [only] = instances;
    if (named !== undefined) {
      const rest = url.slice(named.name.length + 1);
      request.url = rest.startsWith('/') ? rest : `/${rest}`;
      answererOf(named)(request, response);
    } else if (only !== undefined && instances.length === 1) {
      answererOf(only)(request, response);
    } else if (pathOf(request) === '/' && request.method === 'GET') {
      sendText(response, 200, ['kube-reflex', ...instances.map(({ name }) => `  /${name}`)].join('\n'));
    } else {
      sendText(response, 404, `no such function; there is ${instances.map(({ name }) => `/${name}`).join(', ')}`);
    }
  };
}

/** Answers requests on the TLS port: the webhooks of the functions. */
export function admissionSurface(instances: readonly Instance[]): Answerer {
  const paths = new Map(instances.flatMap((instance) => admissionPaths(instance, instances.length === 1)));
  return (request, response) => {
    const answer = paths.get(pathOf(request));
    if (answer !== undefined && request.method === 'POST') {
      answer(request, response);
    } else if (answer !== undefined) {
      response.setHeader('allow', 'POST');
      sendText(response, 405, 'send an AdmissionReview by POST');
    } else {
      sendText(response, 404, `no such webhook; there is ${[...paths.keys()].join(', ')}`);
    }
  };
}

/**
 * The API server calls a function's own paths. If a process serves several functions, each path starts with the name.
 */
function admissionPaths({ name, admissions }: Instance, alone: boolean): [string, Answerer][] {
  return [...admissions].flatMap(([path, answer]): [string, Answerer][] => [
    ...(alone ? [[path, answer] as [string, Answerer]] : []),
    [`/${name}${path}`, answer],
  ]);
}
