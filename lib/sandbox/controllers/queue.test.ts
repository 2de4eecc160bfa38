import { describe, expect, it } from '@jest/globals';
import type { Clock } from '../model/internal.ts';
import { createQueue } from './queue.ts';

/** A clock whose timers run when the test says so. */
function heldClock(): Clock & { readonly timers: { ms: number; work: () => void }[] } {
  const timers: { ms: number; work: () => void }[] = [];
  return {
    timers,
    now: () => new Date(0),
    after(ms, work) {
      const timer = { ms, work };
      timers.push(timer);
      return () => timers.splice(timers.indexOf(timer), 1);
    },
  };
}

async function turns(count = 10): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) {
    await new Promise((resolve) => setImmediate(resolve));
  }
}

describe('a queue', () => {
  it('looks once at a key that was added often', async () => {
    const seen: string[] = [];
    const queue = createQueue(heldClock(), (key) => Promise.resolve(void seen.push(key)));

    queue.add('a');
    queue.add('b');
    queue.add('a');
    await turns();

    expect(seen).toEqual(['a', 'b']);
  });

  it('looks once more at a key that was added while it was looked at, never twice at a time', async () => {
    const open: (() => void)[] = [];
    const queue = createQueue(heldClock(), () => new Promise((resolve) => open.push(resolve)));

    queue.add('a');
    await turns();
    queue.add('a');
    queue.add('a');
    await turns();
    expect(open).toHaveLength(1);
    open[0]?.();
    await turns();

    expect(open).toHaveLength(2);
  });

  it('looks at no more keys at a time than it has workers', async () => {
    const open: string[] = [];
    const queue = createQueue(heldClock(), (key) => new Promise(() => open.push(key)), { workers: 2 });

    ['a', 'b', 'c'].forEach((key) => queue.add(key));
    await turns();

    expect(open).toEqual(['a', 'b']);
  });

  it('tries again ever more slowly after a failure', async () => {
    const clock = heldClock();
    const waits: number[] = [];
    let failures = 3;
    const queue = createQueue(clock, () => {
      failures -= 1;
      return failures < 0 ? Promise.resolve() : Promise.reject(new Error('no'));
    });

    queue.add('a');
    await turns();
    for (const timer of clock.timers) {
      waits.push(timer.ms);
      timer.work();
      await turns();
    }

    expect(waits).toEqual([10, 20, 40]);
  });

  it('leaves a costly key alone for a while', async () => {
    const clock = heldClock();
    let looks = 0;
    const queue = createQueue(clock, () => Promise.resolve(void (looks += 1)), { restMs: () => 50 });

    queue.add('a');
    await turns();
    queue.add('a');
    await turns();
    expect(looks).toBe(1);
    clock.timers[0]?.work();
    await turns();

    expect(looks).toBe(2);
  });

  it('does nothing more once it is closed', async () => {
    const clock = heldClock();
    let looks = 0;
    const queue = createQueue(clock, () => Promise.resolve(void (looks += 1)));

    queue.addAfter('a', 5);
    queue.add('b');
    queue.close();
    queue.add('c');
    await turns();

    expect(looks).toBe(0);
    expect(clock.timers).toEqual([]);
  });
});
