import { describe, expect, it } from '@jest/globals';
import { answerReview, isReview } from './access-review.ts';
import type { Caller } from '../model/internal.ts';
import type { Access, Authorizer } from './rbac.ts';
import { answerTokenRequest } from './token-request.ts';
import { createTokens } from './tokens.ts';

const bob: Caller = { username: 'bob', groups: ['devs'] };
const tokens = createTokens({ now: () => new Date(0), accountUid: () => '7' });

function review(plural: string, spec: object, namespace?: string) {
  const asked: { subject: Caller; access: Access }[] = [];
  const authorizer: Authorizer = {
    decide(subject, access) {
      asked.push({ subject, access });
      return { allowed: true, reason: 'because' };
    },
    rulesFor: () => ({
      rules: [
        { verbs: ['get'], apiGroups: [''], resources: ['pods'], resourceNames: ['a'] },
        { verbs: ['get'], nonResourceURLs: ['/version'] },
      ],
      errors: ['oops'],
    }),
  };
  const context = { caller: bob, authorizer, tokens, ...(namespace === undefined ? {} : { namespace }) };
  return { answer: answerReview(plural, { kind: 'Review', ...{ spec } }, context), asked };
}

const getPods = { verb: 'get', resource: 'pods', namespace: 'a' };

describe('access reviews', () => {
  it('ask for the caller', () => {
    const { answer, asked } = review('selfsubjectaccessreviews', { resourceAttributes: getPods });

    expect(answer).toMatchObject({ status: { allowed: true, reason: 'because' } });
    expect(asked).toEqual([{ subject: bob, access: { ...getPods, group: '' } }]);
  });

  it('ask for another', () => {
    const { asked } = review('subjectaccessreviews', {
      user: 'eve',
      groups: ['x'],
      nonResourceAttributes: { path: '/healthz', verb: 'get' },
    });

    expect(asked).toEqual([{ subject: { username: 'eve', groups: ['x'] }, access: { path: '/healthz', verb: 'get' } }]);
  });

  it('ask in their own namespace', () => {
    const spec = { user: 'eve', resourceAttributes: getPods };

    expect(review('localsubjectaccessreviews', spec, 'a').answer).toMatchObject({ status: { allowed: true } });
    expect(() => review('localsubjectaccessreviews', spec, 'b')).toThrow('must match metadata.namespace');
  });

  it.each([
    ['selfsubjectaccessreviews', {}, 'exactly one of nonResourceAttributes or resourceAttributes must be specified'],
    [
      'selfsubjectaccessreviews',
      { resourceAttributes: getPods, nonResourceAttributes: {} },
      'Invalid value: {"Path":"","Verb":""}: cannot be specified in combination with resourceAttributes',
    ],
    ['subjectaccessreviews', { resourceAttributes: getPods }, 'at least one of user or group must be specified'],
    ['selfsubjectrulesreviews', {}, 'no namespace on request'],
    ['tokenreviews', {}, 'token is required for TokenReview in authentication'],
  ])('refuse %s with %j', (plural, spec, message) => {
    expect(() => review(plural, spec)).toThrow(message);
  });

  it('list rules', () => {
    expect(review('selfsubjectrulesreviews', { namespace: 'a' }).answer).toMatchObject({
      spec: {},
      status: {
        resourceRules: [{ verbs: ['get'], apiGroups: [''], resources: ['pods'], resourceNames: ['a'] }],
        nonResourceRules: [{ verbs: ['get'], nonResourceURLs: ['/version'] }],
        incomplete: false,
        evaluationError: 'oops',
      },
    });
  });

  it('say who one is', () => {
    expect(review('selfsubjectreviews', {}).answer).toMatchObject({ status: { userInfo: bob } });
  });

  it('are the kinds that are answered at once', () => {
    expect(['selfsubjectreviews', 'pods', 'toString'].map(isReview)).toEqual([true, false, false]);
  });
});

describe('token requests', () => {
  const account = { metadata: { name: 'robot', namespace: 'a', uid: '7' } };

  it('give a token that a review accepts', () => {
    const { status } = answerTokenRequest({}, account, { name: 'robot', tokens }) as {
      status?: { token: string; expirationTimestamp: string };
    };

    expect(status?.expirationTimestamp).toBe('1970-01-01T01:00:00Z');
    expect(review('tokenreviews', { token: status?.token }).answer).toMatchObject({
      status: { authenticated: true, user: { username: 'system:serviceaccount:a:robot' } },
    });
    expect(review('tokenreviews', { token: 'x' }).answer).toMatchObject({
      status: { user: {}, error: 'invalid bearer token' },
    });
  });

  it('need an account and a fair time', () => {
    expect(() => answerTokenRequest({}, undefined, { name: 'robot', tokens })).toThrow(
      'serviceaccounts "robot" not found',
    );
    expect(() =>
      answerTokenRequest({ kind: 'TokenRequest', ...{ spec: { expirationSeconds: 60 } } }, account, {
        name: 'robot',
        tokens,
      }),
    ).toThrow('spec.expirationSeconds: Invalid value: 60: may not specify a duration less than 10 minutes');
  });
});
