import { describe, expect, it } from '@jest/globals';
import { Failure } from './failure.ts';
import { startingOver } from './retry.ts';

/** Fails this number of times, then returns the number of tries. */
function losing(times: number, kind: 'conflict' | 'unavailable' = 'conflict'): () => Promise<number> {
  let tries = 0;
  return () => {
    tries += 1;
    return tries > times ? Promise.resolve(tries) : Promise.reject(new Failure(kind, `try ${tries}`));
  };
}

describe('startingOver', () => {
  it('begins again after each lost lock', async () => {
    expect(await startingOver(losing(2))).toBe(3);
  });

  it('throws the last conflict when the tries or the time are used up', async () => {
    await expect(startingOver(losing(9), { budget: { tries: 2, ms: 60_000 } })).rejects.toThrow('try 2');
    await expect(startingOver(losing(9), { budget: { tries: 9, ms: 0 } })).rejects.toThrow('try 1');
  });

  it('throws at once what a retry cannot fix, and when the signal has aborted', async () => {
    await expect(startingOver(losing(1, 'unavailable'))).rejects.toThrow('try 1');
    await expect(startingOver(losing(1), { signal: AbortSignal.abort() })).rejects.toThrow('try 1');
  });
});
