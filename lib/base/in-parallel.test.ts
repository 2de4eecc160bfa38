import { expect, it } from '@jest/globals';
import { inParallel } from './in-parallel.ts';

it('runs the work for every item, never more at once than the width', async () => {
  const done: number[] = [];
  let running = 0;
  let most = 0;

  await inParallel(3, [1, 2, 3, 4, 5, 6, 7], async (item) => {
    running += 1;
    most = Math.max(most, running);
    await new Promise((resolve) => setImmediate(resolve));
    running -= 1;
    done.push(item);
  });

  expect(done.toSorted()).toEqual([1, 2, 3, 4, 5, 6, 7]);
  expect(most).toBe(3);
});

it('returns the results in the order of the items', async () => {
  const results = await inParallel(2, [3, 1, 2], async (item) => {
    await new Promise((resolve) => setTimeout(resolve, item));
    return item * 10;
  });

  expect(results).toEqual([30, 10, 20]);
});

it('fails with the first failure', async () => {
  await expect(inParallel(2, [1, 2], (item) => Promise.reject(new Error(`item ${item}`)))).rejects.toThrow('item 1');
});
