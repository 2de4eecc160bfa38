import { timingSafeEqual } from 'node:crypto';
import type { Caller } from '../model/internal.ts';
import { ApiError } from '../model/status.ts';
import type { Tokens } from './tokens.ts';

/** Headers with every line of each name apart, as `request.headersDistinct` gives them. */
export type Headers = Readonly<NodeJS.Dict<string[]>>;

export interface AuthenticateOptions {
  /** The token that makes its bearer the administrator. */
  readonly adminToken: string;
  readonly tokens: Tokens;
  /** Requests without a token are `system:anonymous`; otherwise they are refused. Only access rules make that safe. */
  readonly allowsAnonymous: boolean;
}

export const admin: Caller = { username: 'admin', uid: '1', groups: ['system:masters', 'system:authenticated'] };

export const anonymous: Caller = { username: 'system:anonymous', groups: ['system:unauthenticated'] };

/** Names the caller by the bearer token, before impersonation. Throws 401. */
export function authenticate(headers: Headers, options: AuthenticateOptions): Caller {
  const token = bearerToken(headers);
  if (token === undefined) {
    if (options.allowsAnonymous) {
      return anonymous;
    }
    throw unauthorized();
  }
  if (equals(token, options.adminToken)) {
    return admin;
  }
  const { caller } = options.tokens.verify(token);
  if (caller === undefined) {
    throw unauthorized();
  }
  return caller;
}

/** As `authenticate`, on the listener without TLS: who shows no token is the administrator. */
export function authenticatePlain(headers: Headers, options: AuthenticateOptions): Caller {
  return bearerToken(headers) === undefined ? admin : authenticate(headers, options);
}

function unauthorized(): ApiError {
  return new ApiError(401, { reason: 'Unauthorized', message: 'Unauthorized' });
}

/** Another scheme or an empty token counts as none, as in the API server. */
function bearerToken(headers: Headers): string | undefined {
  const [, token] = /^bearer +(\S+) *$/i.exec(headers['authorization']?.[0] ?? '') ?? [];
  return token;
}

function equals(a: string, b: string): boolean {
  const left = Buffer.from(a);
  const right = Buffer.from(b);
  return left.length === right.length && timingSafeEqual(left, right);
}
