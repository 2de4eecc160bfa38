import { createHmac, randomBytes, randomUUID, timingSafeEqual } from 'node:crypto';
import type { Caller } from '../model/internal.ts';

/** The audience of tokens that are meant for the API itself, and their issuer. */
export const apiAudience = 'https://kubernetes.default.svc.cluster.local';

export interface ServiceAccountRef {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

export interface IssueOptions {
  /** Without any, the token is for the API itself. */
  readonly audiences?: readonly string[];
  readonly expirationSeconds?: number;
}

export interface IssuedToken {
  readonly token: string;
  readonly expiresAt: Date;
  readonly audiences: readonly string[];
}

/** What a token says: who holds it and for whom it is good, or why it is not. */
export type TokenVerdict =
  | { readonly caller: Caller; readonly audiences: readonly string[] }
  | { readonly caller?: undefined; readonly error: string };

export interface Tokens {
  issue(account: ServiceAccountRef, options?: IssueOptions): IssuedToken;
  verify(token: string, audiences?: readonly string[]): TokenVerdict;
}

export interface TokensOptions {
  readonly now: () => Date;
  /** The uid of a ServiceAccount that exists: tokens die with their account. */
  readonly accountUid: (namespace: string, name: string) => string | undefined;
}

interface Claims {
  readonly iss: string;
  readonly sub: string;
  readonly aud: readonly string[];
  readonly exp: number;
  readonly iat: number;
  readonly nbf: number;
  readonly jti: string;
  readonly 'kubernetes.io': {
    readonly namespace: string;
    readonly serviceaccount: { readonly name: string; readonly uid: string };
  };
}

const invalid = 'invalid bearer token';
const header = encode({ alg: 'HS256', typ: 'JWT' });

/** ServiceAccount tokens with the claims of real ones. They are good for the life of this sandbox alone. */
export function createTokens({ now, accountUid }: TokensOptions): Tokens {
  const key = randomBytes(32);

  function signed(claims: Claims): string {
    const text = `${header}.${encode(claims)}`;
    return `${text}.${signature(key, text)}`;
  }

  return {
    issue({ namespace, name, uid }, { audiences: asked = [], expirationSeconds = 3600 } = {}) {
      const audiences = asked.length === 0 ? [apiAudience] : asked;
      const issued = Math.floor(now().getTime() / 1000);
      const token = signed({
        aud: audiences,
        exp: issued + expirationSeconds,
        iat: issued,
        iss: apiAudience,
        jti: randomUUID(),
        'kubernetes.io': { namespace, serviceaccount: { name, uid } },
        nbf: issued,
        sub: serviceAccountName(namespace, name),
      });
      return { token, expiresAt: new Date((issued + expirationSeconds) * 1000), audiences };
    },
    verify(token, audiences = [apiAudience]) {
      const claims = open(key, token);
      if (claims === undefined || claims.exp * 1000 <= now().getTime()) {
        return { error: invalid };
      }
      const { namespace, serviceaccount } = claims['kubernetes.io'];
      if (accountUid(namespace, serviceaccount.name) !== serviceaccount.uid) {
        return { error: invalid };
      }
      const shared = claims.aud.filter((audience) => audiences.includes(audience));
      return shared.length === 0
        ? { error: `[${invalid}, ${wrongAudience(claims.aud, audiences)}]` }
        : { caller: callerOf(claims), audiences: shared };
    },
  };
}

function serviceAccountName(namespace: string, name: string): string {
  return `system:serviceaccount:${namespace}:${name}`;
}

export function serviceAccountGroups(namespace: string): string[] {
  return ['system:serviceaccounts', `system:serviceaccounts:${namespace}`];
}

function callerOf({ sub, jti, ['kubernetes.io']: { namespace, serviceaccount } }: Claims): Caller {
  return {
    username: sub,
    uid: serviceaccount.uid,
    groups: [...serviceAccountGroups(namespace), 'system:authenticated'],
    extra: { 'authentication.kubernetes.io/credential-id': [`JTI=${jti}`] },
  };
}

function wrongAudience(has: readonly string[], wanted: readonly string[]): string {
  return `token audiences ${JSON.stringify(has)} is invalid for the target audiences ${JSON.stringify(wanted)}`;
}

function open(key: Buffer, token: string): Claims | undefined {
  const [head, body, mark, ...more] = token.split('.');
  if (head !== header || body === undefined || mark === undefined || more.length > 0) {
    return undefined;
  }
  const expected = Buffer.from(signature(key, `${head}.${body}`));
  const given = Buffer.from(mark);
  const isOurs = expected.length === given.length && timingSafeEqual(expected, given);
  return isOurs ? (JSON.parse(Buffer.from(body, 'base64url').toString('utf8')) as Claims) : undefined;
}

function signature(key: Buffer, text: string): string {
  return createHmac('sha256', key).update(text).digest('base64url');
}

function encode(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}
