import express, { type Express, type Request, type Response } from 'express';
import type { Context, Reply, Route } from '../function/definition.ts';
import { asFailure, type Failure } from '../base/failure.ts';
import { sendFailure, sendJson, sendText } from './answer.ts';
import { parseBody, type BodyReader } from './body.ts';

export interface RoutesOptions<C> {
  readonly routes: readonly Route<C>[];
  readonly context: () => Context<C>;
  readonly bodies: BodyReader;
  readonly onFailure: (path: string, failure: Failure) => void;
}

const bodyLimit = 3 * 1024 * 1024;

/** The plain HTTP routes of a function. */
export function createRoutes<C>({ routes, context, bodies, onFailure }: RoutesOptions<C>): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('query parser', false);
  for (const route of routes) {
    app[route.method === 'GET' ? 'get' : 'post'](route.path, async (request: Request, response: Response) => {
      try {
        const body = route.method === 'GET' ? undefined : await readBody(request, response, { bodies, as: route.body });
        const { authorization } = request.headers;
        const query = new URL(request.url, 'http://localhost').searchParams;
        const params = request.params as Record<string, string>;
        const given = {
          ...(authorization === undefined ? {} : { authorization }),
          ...(body === undefined ? {} : { body }),
        };
        send(response, await route.handle({ query, params, ...given }, context()));
      } catch (error) {
        const failure = asFailure(error);
        onFailure(route.path, failure);
        sendFailure(response, failure);
      }
    });
  }
  app.use((request: Request, response: Response) => {
    const known = routes.filter(({ path }) => path === request.path).map(({ method }) => method);
    if (known.length === 0) {
      sendText(response, 404, `no such path: ${JSON.stringify(request.path.slice(0, 200))}`);
    } else {
      response.setHeader('allow', known.join(', '));
      sendText(response, 405, `use ${known.join(' or ')}`);
    }
  });
  // Requests that express itself refuses, such as a path that is not percent-encoded UTF-8.
  app.use((error: { readonly status?: number }, _request: Request, response: Response, _next: () => void) => {
    sendText(response, error.status ?? 400, 'malformed: the request could not be read');
  });
  return app;
}

async function readBody(
  request: Request,
  response: Response,
  { bodies, as = 'json' }: { readonly bodies: BodyReader; readonly as: Route['body'] },
): Promise<unknown> {
  const body = await bodies.read(request, response, bodyLimit);
  if (body.length === 0) {
    return undefined;
  }
  return as === 'text' ? body.toString() : parseBody(body);
}

function send(response: Response, { status = 200, body }: Reply): void {
  if (typeof body === 'string') {
    sendText(response, status, body);
  } else {
    sendJson(response, status, body);
  }
}
