import { describe, expect, it } from '@jest/globals';
import { admin, anonymous, authenticate, authenticatePlain } from './authenticate.ts';
import { apiAudience, createTokens } from './tokens.ts';

const account = { namespace: 'a', name: 'robot', uid: '7' };

function clocked() {
  const state = { seconds: 1_000, uid: '7' as string | undefined };
  const tokens = createTokens({ now: () => new Date(state.seconds * 1000), accountUid: () => state.uid });
  return { state, tokens, options: { adminToken: 'secret', tokens, allowsAnonymous: false } };
}

function bearer(token: string) {
  return { authorization: [`Bearer ${token}`] };
}

describe('service account tokens', () => {
  it('name their account with its groups', () => {
    const { tokens, options } = clocked();

    const caller = authenticate(bearer(tokens.issue(account).token), options);

    expect(caller).toMatchObject({
      username: 'system:serviceaccount:a:robot',
      uid: '7',
      groups: ['system:serviceaccounts', 'system:serviceaccounts:a', 'system:authenticated'],
    });
  });

  it('have the shape and claims of a JWT', () => {
    const { tokens } = clocked();

    const [, claims = ''] = tokens.issue(account, { expirationSeconds: 700 }).token.split('.');

    expect(JSON.parse(Buffer.from(claims, 'base64url').toString())).toMatchObject({
      iss: apiAudience,
      aud: [apiAudience],
      sub: 'system:serviceaccount:a:robot',
      exp: 1700,
      'kubernetes.io': { namespace: 'a', serviceaccount: { name: 'robot', uid: '7' } },
    });
  });

  it('end with their time, their account or a new account of the same name', () => {
    const { state, tokens } = clocked();
    const { token } = tokens.issue(account, { expirationSeconds: 600 });

    state.uid = undefined;
    expect(tokens.verify(token)).toEqual({ error: 'invalid bearer token' });
    state.uid = '8';
    expect(tokens.verify(token)).toEqual({ error: 'invalid bearer token' });
    state.uid = '7';
    expect(tokens.verify(token).caller).toBeDefined();
    state.seconds += 600;
    expect(tokens.verify(token)).toEqual({ error: 'invalid bearer token' });
  });

  it('are good for their audiences alone', () => {
    const { tokens, options } = clocked();
    const { token } = tokens.issue(account, { audiences: ['foo'] });

    expect(() => authenticate(bearer(token), options)).toThrow('Unauthorized');
    expect(tokens.verify(token, ['foo', 'bar'])).toMatchObject({ audiences: ['foo'] });
    expect(tokens.verify(token)).toEqual({
      error: `[invalid bearer token, token audiences ["foo"] is invalid for the target audiences ["${apiAudience}"]]`,
    });
  });

  it.each(['', 'x', 'a.b.c', 'a.b.c.d'])('are not made by writing %j', (token) => {
    expect(clocked().tokens.verify(token)).toEqual({ error: 'invalid bearer token' });
  });

  it('cannot be altered', () => {
    const { tokens } = clocked();
    const [head = '', , mark = ''] = tokens.issue(account).token.split('.');
    const forged = Buffer.from(JSON.stringify({ sub: 'admin', aud: [apiAudience], exp: 9e9 })).toString('base64url');

    expect(tokens.verify(`${head}.${forged}.${mark}`)).toEqual({ error: 'invalid bearer token' });
  });
});

describe('authentication', () => {
  it('knows the administrator by the token', () => {
    expect(authenticate(bearer('secret'), clocked().options)).toBe(admin);
  });

  it('refuses unknown tokens', () => {
    expect(() => authenticate(bearer('other'), { ...clocked().options, allowsAnonymous: true })).toThrow(
      'Unauthorized',
    );
    expect(() => authenticatePlain(bearer('other'), clocked().options)).toThrow('Unauthorized');
  });

  it.each([{}, { authorization: ['Basic eDp5'] }, { authorization: ['Bearer '] }])(
    'takes %j as no token at all',
    (headers) => {
      const { options } = clocked();

      expect(() => authenticate(headers, options)).toThrow('Unauthorized');
      expect(authenticate(headers, { ...options, allowsAnonymous: true })).toBe(anonymous);
      expect(authenticatePlain(headers, options)).toBe(admin);
    },
  );
});
