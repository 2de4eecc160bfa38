import { describe, expect, it } from '@jest/globals';
import { poolOf, readPool, readRules } from './rule.ts';
import { formatState, readState, emptyState } from './state.ts';

const rule = { name: 'a', pool: { key: 'tier', values: ['spot'] } };

describe('rules', () => {
  it.each([
    [[], undefined],
    [[rule], undefined],
    [[{ ...rule, weight: 100, tolerations: [{ operator: 'Exists' }] }], undefined],
    [[{ name: 'a', term: { matchExpressions: [{ key: 'n', operator: 'Gt', values: ['3'] }] } }], undefined],
    ['text', 'must be a list of rules'],
    [[rule, rule], 'must have names that differ'],
    [[{ ...rule, name: 'A' }], '[0].name must be a DNS label (a-z, 0-9, -)'],
    [[{ name: 'a' }], '[0].pool must be given, or term in its place, and not both'],
    [[{ ...rule, weight: 0 }], '[0].weight must be a whole number from 1 to 100'],
    [[{ ...rule, weight: 101 }], '[0].weight must be a whole number from 1 to 100'],
    [[{ ...rule, weight: 1.5 }], '[0].weight must be a whole number from 1 to 100'],
    [[{ ...rule, pool: { key: 'a b', values: ['x'] } }], '[0].pool.key must be a label key'],
    [[{ ...rule, pool: { key: 'a', values: [] } }], '[0].pool.values must not be empty'],
    [[{ ...rule, pool: { key: 'a', values: ['-'] } }], '[0].pool.values[0] must be a label value'],
    [
      [{ name: 'a', term: { matchExpressions: [{ key: 'n', operator: 'Is' }] } }],
      '[0].term.matchExpressions[0].operator must be one of In, NotIn, Exists, DoesNotExist, Gt, Lt',
    ],
    [
      [{ name: 'a', term: { matchExpressions: [{ key: 'n', operator: 'Gt', values: ['x'] }] } }],
      '[0].term.matchExpressions[0].values must fit the operator',
    ],
    [
      [{ ...rule, match: { podSelector: { matchExpressions: [{ key: 'n', operator: 'In' }] } } }],
      '[0].match.podSelector.matchExpressions[0].values must fit the operator',
    ],
    [[{ ...rule, match: { namespaces: ['a/b'] } }], '[0].match.namespaces[0] must be the name of a namespace'],
    [
      [{ ...rule, tolerations: [{ key: 'a', operator: 'Exists', value: 'x' }] }],
      '[0].tolerations[0].value must not be',
    ],
    [[{ ...rule, tolerations: [{ value: 'x' }] }], '[0].tolerations[0].operator must be Exists where no key is given'],
    [
      [{ ...rule, tolerations: [{ key: 'a', tolerationSeconds: 3 }] }],
      '[0].tolerations[0].tolerationSeconds must only be given with the effect NoExecute',
    ],
    [[{ ...rule, extra: 1 }], '[0] must not have the field "extra"'],
  ])('%j: %s', (document, problem) => {
    const read = readRules(document);

    expect('problems' in read ? read.problems.join('; ') : undefined).toEqual(
      problem === undefined ? undefined : expect.stringContaining(problem),
    );
  });

  it('come back from the state as they were', () => {
    const read = readRules([{ ...rule, match: { podSelector: { matchLabels: { a: 'b' } } }, stop: true }]);
    const rules = 'rules' in read ? read.rules : [];

    expect(readState(formatState({ ...emptyState, rules }))).toEqual({ ...emptyState, rules });
  });

  it('a state that somebody spoilt counts as absent where it cannot be read', () => {
    const spoilt = {
      'config.json': '{',
      'pools.json': '{"a=b":{"active":"yes"},"__proto__":{"active":true}}',
      'namespaces.json': '{"shop":{"pool":"a=b=c","labels":3}}',
    };

    expect(readState(spoilt)).toEqual({ ...emptyState, namespaces: new Map([['shop', { labels: {} }]]) });
  });
});

describe('a pool', () => {
  it.each([
    ['tier=spot', 'tier=spot'],
    ['tier in (b, a)', 'tier in (a,b)'],
    ['gpu,!old', 'gpu,!old'],
    ['', undefined],
    ['a=b=c', undefined],
  ])('that a namespace names as %j is %j', (text, expected) => {
    const matchExpressions = readPool(text);

    expect(matchExpressions && poolOf({ term: { matchExpressions: [...matchExpressions] } })).toBe(expected);
  });
});
