import { describe, expect, it } from '@jest/globals';
import { createShared } from './shared.ts';

const maxAge = 1000;

/** Readings that end when told to, and how many were begun. */
function readings(): {
  read: () => Promise<number>;
  end: (index: number, failure?: Error) => void;
  begun: () => number;
} {
  const begun: PromiseWithResolvers<number>[] = [];
  return {
    read: () => {
      const reading = Promise.withResolvers<number>();
      begun.push(reading);
      return reading.promise;
    },
    end: (index, failure) => (failure === undefined ? begun[index]?.resolve(index) : begun[index]?.reject(failure)),
    begun: () => begun.length,
  };
}

describe('a shared value', () => {
  it('is read once for all who ask while it is coming or young', async () => {
    const { read, end, begun } = readings();
    const shared = createShared<number>();

    const first = [shared.get(read, 0, maxAge), shared.get(read, 10, maxAge)];
    end(0);
    await Promise.all(first);
    await shared.get(read, 800, maxAge);

    expect([begun(), shared.readAt()]).toEqual([1, 0]);
  });

  it('is read ahead while the old one still serves, so that nobody waits', async () => {
    const { read, end, begun } = readings();
    const shared = createShared<number>();
    const first = shared.get(read, 0, maxAge);
    end(0);
    await first;

    const ripe = await shared.get(read, 900, maxAge);
    end(1);
    const next = await shared.get(read, 1500, maxAge);

    expect([ripe, next, begun()]).toEqual([0, 1, 2]);
  });

  it('never serves beyond its life: who asks then waits for the next, and hears of its failure', async () => {
    const { read, end } = readings();
    const shared = createShared<number>();
    const first = shared.get(read, 0, maxAge);
    end(0);
    await first;

    const late = shared.get(read, 1001, maxAge);
    end(1, new Error('away'));
    await expect(late).rejects.toThrow('away');
    const again = shared.get(read, 1002, maxAge);
    end(2);

    expect(await again).toBe(2);
  });

  it('is read anew for who asks while a reading hangs that began too long ago, which then replaces nothing', async () => {
    const { read, end } = readings();
    const shared = createShared<number>();
    const hanging = shared.get(read, 0, maxAge);
    const joined = shared.get(read, 1000, maxAge);
    const late = shared.get(read, 1001, maxAge);

    end(1);
    const got = [await late];
    end(0);
    got.push(await hanging, await joined, await shared.get(read, 1002, maxAge));

    expect(got).toEqual([1, 0, 0, 1]);
    expect(shared.readAt()).toBe(1001);
  });

  it('is as old as the moment at which its reading began', async () => {
    const { read, end } = readings();
    const shared = createShared<number>();
    const first = shared.get(read, 5, maxAge);
    end(0);
    await first;

    expect(shared.readAt()).toBe(5);
  });

  it('is read for each who asks where it may have no age', async () => {
    const { read, end, begun } = readings();
    const shared = createShared<number>();
    const both = [shared.get(read, 0, 0), shared.get(read, 0, 0)];
    end(0);
    end(1);

    expect([await Promise.all(both), begun()]).toEqual([[0, 1], 2]);
  });
});
