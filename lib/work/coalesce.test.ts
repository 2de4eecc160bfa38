import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { createCoalescer } from './coalesce.ts';

describe('coalescing', () => {
  it('answers each event after a run that began after it arrived, in any interleaving', async () => {
    const arrival = fc.record({ key: fc.constantFrom('a', 'b', 'c'), fails: fc.boolean() });

    await fc.assert(
      fc.asyncProperty(
        fc.scheduler(),
        fc.array(arrival, { minLength: 1, maxLength: 40 }),
        fc.integer({ min: 1, max: 3 }),
        async (scheduler, arrivals, limit) => {
          const { submit, idle } = createCoalescer({ running: limit, waiting: 1000 });
          let clock = 0;
          let underway = 0;
          const active = new Set<string>();
          const runs: { key: string; began: number; ended: number; items: readonly number[] }[] = [];
          const answers: { key: string; arrived: number; answered: number; ok: boolean }[] = [];

          async function work(key: string, items: readonly { arrived: number; fails: boolean }[]): Promise<void> {
            const run = { key, began: ++clock, ended: 0, items: items.map(({ arrived }) => arrived) };
            expect(active.has(key)).toBe(false);
            active.add(key);
            underway += 1;
            expect(underway).toBeLessThanOrEqual(limit);
            await scheduler.schedule(Promise.resolve());
            active.delete(key);
            underway -= 1;
            run.ended = ++clock;
            runs.push(run);
            if (items.some(({ fails }) => fails)) {
              throw new Error('failed');
            }
          }

          const events = arrivals.map(async ({ key, fails }) => {
            await scheduler.schedule(Promise.resolve());
            const arrived = ++clock;
            const ok = await submit(key, { arrived, fails }, (items) => work(key, items)).then(
              () => true,
              () => false,
            );
            answers.push({ key, arrived, answered: ++clock, ok });
          });
          await scheduler.waitFor(Promise.all(events));
          await idle();

          expect(answers).toHaveLength(arrivals.length);
          expect(runs.length).toBeLessThanOrEqual(arrivals.length);
          for (const { key, arrived, answered } of answers) {
            const mine = runs.filter(({ items }) => items.includes(arrived));
            expect(mine).toHaveLength(1);
            expect(mine[0]).toMatchObject({ key });
            expect(mine[0]?.began).toBeGreaterThan(arrived);
            expect(mine[0]?.ended).toBeLessThan(answered);
          }
        },
      ),
      { numRuns: 300 },
    );
  });

  it('needs two runs for a hundred events of one key', async () => {
    const { submit } = createCoalescer({ running: 4, waiting: 1000 });
    const gate = Promise.withResolvers<void>();
    const sizes: number[] = [];

    const events = Array.from({ length: 100 }, () =>
      submit('key', 1, async (items) => {
        sizes.push(items.length);
        await gate.promise;
      }),
    );
    gate.resolve();
    await Promise.all(events);

    expect(sizes).toEqual([1, 99]);
  });

  it('does not let a busy key starve another', async () => {
    const { submit } = createCoalescer({ running: 1, waiting: 1000 });
    const order: string[] = [];
    async function work(key: string): Promise<void> {
      order.push(key);
      await Promise.resolve();
    }

    const busy = Array.from({ length: 3 }, () => submit('busy', 1, () => work('busy').then(submitBusy)));
    function submitBusy(): void {
      if (order.length < 10) {
        busy.push(submit('busy', 1, () => work('busy').then(submitBusy)));
      }
    }
    await submit('quiet', 1, () => work('quiet'));
    await Promise.all(busy);

    expect(order.indexOf('quiet')).toBeLessThanOrEqual(2);
  });

  it('refuses events beyond the waiting limit, and recovers', async () => {
    const { submit, idle } = createCoalescer({ running: 1, waiting: 2 });
    const gate = Promise.withResolvers<void>();

    const first = submit('a', 1, () => gate.promise);
    const second = submit('b', 1, () => gate.promise);
    const third = submit('c', 1, () => gate.promise);
    await expect(submit('d', 1, () => gate.promise)).rejects.toMatchObject({ kind: 'throttled', retryAfter: 1 });
    gate.resolve();
    await Promise.all([first, second, third]);
    await idle();

    await expect(submit('d', 1, () => Promise.resolve())).resolves.toBeUndefined();
  });
});
