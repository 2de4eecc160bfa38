import { describe, expect, it } from '@jest/globals';
import { parseTicks } from './cron.ts';
import { keepTicking } from './tick.ts';
import { createVirtualClock } from './testing/virtual-clock.ts';

async function ticksOf(schedule: string, count: number): Promise<string[]> {
  const clock = createVirtualClock();
  const ending = new AbortController();
  const times: string[] = [];
  await keepTicking({
    cron: parseTicks(schedule),
    now: clock.now,
    pause: clock.pause,
    signal: ending.signal,
    tick: () => {
      if (times.push(clock.now().toISOString().slice(5, 16)) === count) {
        ending.abort();
      }
    },
  });
  return times;
}

describe('ticking', () => {
  it('ticks at once and then by the schedule', async () => {
    await expect(ticksOf('*/20 * * * *', 4)).resolves.toEqual([
      '03-01T10:00',
      '03-01T10:20',
      '03-01T10:40',
      '03-01T11:00',
    ]);
  });

  it('waits for dates beyond the longest timer', async () => {
    await expect(ticksOf('30 4 1 5 *', 2)).resolves.toEqual(['03-01T10:00', '05-01T04:30']);
  });

  it('does not repeat ticks that the clock skipped', async () => {
    const ending = new AbortController();
    const jumps = [0, 90_000, 3_600_000, 3_600_000 + 60_000];
    let time = 0;
    const times: number[] = [];

    await keepTicking({
      cron: parseTicks('* * * * *'),
      now: () => new Date(time),
      pause: () => {
        time = jumps.shift() ?? time + 60_000;
        return Promise.resolve();
      },
      signal: ending.signal,
      tick: () => {
        if (times.push(time) === 4) {
          ending.abort();
        }
      },
    });

    expect(times).toEqual([0, 90_000, 3_600_000, 3_660_000]);
  });
});
