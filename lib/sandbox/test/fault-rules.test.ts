import { describe, expect, it } from '@jest/globals';
import { createFaults, faultError, type FaultSubject } from '../server/faults.ts';

const getPod: FaultSubject = { verb: 'get', resource: 'pods', namespace: 'a', name: 'p', user: 'admin' };

describe('faults', () => {
  it('leaves requests alone without rules', () => {
    expect(createFaults().judge(getPod)).toEqual({ delayMs: 0 });
  });

  it.each([
    { verb: 'get' },
    { resource: 'pods' },
    { namespace: 'a' },
    { name: 'p' },
    { user: 'admin' },
    { verb: 'get', name: 'p' },
    {},
  ])('strikes a request that fits %j', (rule) => {
    const faults = createFaults();
    faults.add({ ...rule, effect: { do: 'hang' } });

    expect(faults.judge(getPod).outcome).toEqual({ do: 'hang' });
  });

  it.each([
    { verb: 'list' },
    { resource: 'pods/status' },
    { namespace: 'b' },
    { name: 'q' },
    { verb: 'get', user: 'x' },
  ])('spares a request that differs from %j', (rule) => {
    const faults = createFaults();
    faults.add({ ...rule, effect: { do: 'hang' } });

    expect(faults.judge(getPod)).toEqual({ delayMs: 0 });
    expect(faults.fired).toEqual([]);
  });

  it('strikes as often as the rule says and records each strike', () => {
    const faults = createFaults();
    const effect = { do: 'refuse', status: 503, retryAfter: 1 } as const;
    faults.add({ resource: 'pods', times: 2, effect });

    const outcomes = [1, 2, 3].map(() => faults.judge(getPod).outcome);

    expect(outcomes).toEqual([effect, effect, undefined]);
    expect(faults.fired).toEqual([
      { ...getPod, effect },
      { ...getPod, effect },
    ]);
  });

  it('adds up delays and takes the first outcome only', () => {
    const faults = createFaults();
    faults.add({ effect: { do: 'delay', ms: 5 } });
    faults.add({ effect: { do: 'delay', ms: 7 } });
    faults.add({ effect: { do: 'cut', when: 'after' } });
    faults.add({ times: 1, effect: { do: 'hang' } });

    expect(faults.judge(getPod)).toEqual({ delayMs: 12, outcome: { do: 'cut', when: 'after' } });
    expect(faults.fired).toHaveLength(3);
  });

  it('forgets removed rules', () => {
    const faults = createFaults();
    const remove = faults.add({ effect: { do: 'hang' } });
    faults.add({ effect: { do: 'hang' } });

    remove();
    faults.clear();

    expect(faults.judge(getPod)).toEqual({ delayMs: 0 });
  });

  it('drops the open watches that fit, once', () => {
    const faults = createFaults();
    const ended: string[] = [];
    faults.watching({ ...getPod, verb: 'watch' }, () => ended.push('pods'));
    faults.watching({ ...getPod, verb: 'watch', resource: 'nodes' }, () => ended.push('nodes'));
    faults.watching({ ...getPod, verb: 'watch' }, () => ended.push('closed'))();

    expect(faults.dropWatches({ resource: 'pods' })).toBe(1);
    expect(faults.dropWatches()).toBe(1);
    expect(faults.dropWatches()).toBe(0);
    expect(ended).toEqual(['pods', 'nodes']);
  });

  it.each([
    [409, 'Conflict'],
    [429, 'TooManyRequests'],
    [500, 'InternalError'],
    [503, 'ServiceUnavailable'],
  ] as const)('words %i as %s', (status, reason) => {
    expect(faultError({ do: 'refuse', status, retryAfter: 3 }).status).toMatchObject({
      code: status,
      reason,
      details: { retryAfterSeconds: 3 },
    });
  });
});
