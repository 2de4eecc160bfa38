import { describe, expect, it, jest } from '@jest/globals';
import { createTimetable, type LaterOptions } from './later.ts';

function timetable(options: Partial<LaterOptions> = {}): ReturnType<typeof createTimetable> {
  return createTimetable({
    now: () => new Date(),
    run: (_key, work) => work(),
    onError: () => undefined,
    ...options,
  });
}

describe('later', () => {
  it('keeps the earlier time and the newer work of one key', async () => {
    jest.useFakeTimers({ now: 0 });
    const { later } = timetable();
    const done: string[] = [];

    later('flush', new Date(5_000), () => Promise.resolve(void done.push('old')));
    later('flush', new Date(9_000), () => Promise.resolve(void done.push('new')));
    await jest.advanceTimersByTimeAsync(4_999);
    expect(done).toEqual([]);
    await jest.advanceTimersByTimeAsync(10_000);

    expect(done).toEqual(['new']);
    jest.useRealTimers();
  });

  it('retries with growing pauses, and reports each failure', async () => {
    jest.useFakeTimers({ now: 0 });
    const errors: unknown[] = [];
    const { later } = timetable({ onError: (_key, error) => errors.push(error) });
    const times: number[] = [];

    later('flush', new Date(1_000), () => {
      times.push(Date.now());
      return times.length < 4 ? Promise.reject(new Error('no')) : Promise.resolve();
    });
    await jest.advanceTimersByTimeAsync(60_000);

    expect(times).toEqual([1_000, 2_000, 4_000, 8_000]);
    expect(errors).toHaveLength(3);
    jest.useRealTimers();
  });

  it('runs pending work at drain, and the work that it schedules', async () => {
    const { later, drain } = timetable();
    const done: string[] = [];

    later('a', new Date(Date.now() + 86_400_000), () => {
      done.push('a');
      later('b', new Date(Date.now() + 86_400_000), () => Promise.resolve(void done.push('b')));
      return Promise.resolve();
    });
    await drain();

    expect(done).toEqual(['a', 'b']);
  });

  it('ends a drain even if work schedules itself again', async () => {
    const { later, drain } = timetable();
    let runs = 0;

    function drive(): Promise<void> {
      runs += 1;
      later('drive', new Date(Date.now() + 10_000), drive);
      return Promise.resolve();
    }
    later('drive', new Date(Date.now() + 10_000), drive);
    await drain();

    expect(runs).toBe(1);
  });

  it('waits for a date beyond the longest timer', async () => {
    jest.useFakeTimers({ now: 0 });
    const { later } = timetable();
    const done: string[] = [];

    later('far', new Date(40 * 86_400_000), () => Promise.resolve(void done.push('far')));
    await jest.advanceTimersByTimeAsync(39 * 86_400_000);
    expect(done).toEqual([]);
    await jest.advanceTimersByTimeAsync(86_400_000);

    expect(done).toEqual(['far']);
    jest.useRealTimers();
  });
});
