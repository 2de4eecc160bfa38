import type { Context } from '../../../lib/function/definition.ts';
import { subjectAccessReviews, tokenReviews } from '../../../lib/kube/model/resource.ts';
import type { Config } from '../config.ts';

/** Why a caller may not ask. */
export interface Refused {
  readonly status: 401 | 403 | 500;
  readonly error: string;
}

const bearer = /^bearer +(\S+)$/i;

/** Whether a caller may ask, by the token that it shows. */
export async function refusedAccess(
  authorization: string,
  verb: 'get' | 'post',
  context: Context<Config>,
): Promise<Refused | undefined> {
  if (context.config.API_AUTH_MODE === 'none') {
    return undefined;
  }
  const [, token] = bearer.exec(authorization) ?? [];
  if (token === undefined) {
    return { status: 401, error: 'missing Bearer token' };
  }
  try {
    return await refusedToken(token, verb, context);
  } catch (error) {
    context.log.error({ err: error }, 'who asks can not be found out');
    return { status: 500, error: 'authentication error' };
  }
}

async function refusedToken(
  token: string,
  verb: 'get' | 'post',
  { kube, config }: Context<Config>,
): Promise<Refused | undefined> {
  const { status } = await kube.ask(tokenReviews, { spec: { token } });
  if (status?.authenticated !== true) {
    return { status: 401, error: 'token not authenticated' };
  }
  if (config.API_AUTH_MODE === 'token') {
    return undefined;
  }
  const { username = '', groups = [] } = status.user ?? {};
  const spec = { user: username, groups, nonResourceAttributes: { path: '/v1/evaluate', verb } };
  const { status: access } = await kube.ask(subjectAccessReviews, { spec });
  return access?.allowed === true ? undefined : { status: 403, error: `not allowed to ${verb} /v1/evaluate` };
}
