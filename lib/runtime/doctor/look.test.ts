import { describe, expect, it } from '@jest/globals';
import { Failure } from '../../base/failure.ts';
import { Refusal } from '../../kube/refusal.ts';
import { orFailure } from './look.ts';

describe('a check that fails', () => {
  it.each([
    [
      'the API server says no',
      new Refusal('unavailable', 'get pods: forbidden', { code: 403, reason: 'Forbidden' }),
      'unknown',
      /look as somebody/,
    ],
    [
      'the API server is in trouble',
      new Refusal('unavailable', 'get pods: too busy', { code: 500, reason: '' }),
      'error',
      /look again/,
    ],
    ['no answer arrives', new Failure('unavailable', 'GET /api/v1/pods: ECONNRESET'), 'error', /look again/],
    ['nobody has foreseen it', new TypeError('it is not a function'), 'error', /report it/],
  ])('is a row of its own where %s', async (_what, error, state, fix) => {
    const found = await orFailure('rights', () => Promise.reject(error));

    expect(found).toEqual([{ check: 'rights', state, message: error.message, fix: expect.stringMatching(fix) }]);
  });
});
