import { describe, expect, it } from '@jest/globals';
import { examinePulse, vitalsOf, type Vitals } from './pulse.ts';

const now = new Date('2026-03-01T12:00:00Z');
const schedule = '*/5 * * * *';

/** A process of two hours, by how many minutes ago something was. */
function process(who: string, { tick, success, start = 120 }: Partial<Record<'tick' | 'success' | 'start', number>>) {
  return { who, started: at(start), lastTick: at(tick), lastSuccess: at(success) };
}

function at(minutesAgo: number): number;
function at(minutesAgo: number | undefined): number | undefined;
function at(minutesAgo: number | undefined): number | undefined {
  return minutesAgo === undefined ? undefined : now.getTime() / 1000 - minutesAgo * 60;
}

function found(check: string, processes: readonly Vitals[], sharing = 1): object | undefined {
  return examinePulse(processes, { schedule, now, sharing }).find((each) => each.check === check);
}

type Case = readonly [string, Vitals, { readonly state: string; readonly message?: string | RegExp }];

describe('ticks', () => {
  it.each<Case>([
    ['one of late', process('a', { tick: 3, success: 3 }), { state: 'ok', message: 'the last 3 minutes ago' }],
    ['one that was lost', process('a', { tick: 10, success: 10 }), { state: 'ok' }],
    ['ticks that have ceased', process('a', { tick: 16, success: 1 }), { state: 'error', message: /since 16 minutes/ }],
    [
      'none for hours',
      process('a', { success: 1 }),
      { state: 'error', message: 'none since its start 120 minutes ago' },
    ],
    ['none yet in a young process', process('a', { start: 4 }), { state: 'unknown' }],
  ])('knows %s', (_what, vitals, { state, message = /./ }) => {
    expect(found('ticks', [vitals])).toMatchObject({ state, message: expect.stringMatching(message) });
  });

  it('is content when any process gets them, since they are shared out', () => {
    expect(found('ticks', [process('a', { success: 1 }), process('b', { tick: 1 })])).toMatchObject({ state: 'ok' });
  });

  it('waits longer where others may have got them that are not looked at', () => {
    expect(found('ticks', [process('a', { tick: 16 })], 2)).toMatchObject({ state: 'ok' });
    expect(found('ticks', [process('a', { tick: 26 })], 2)).toMatchObject({ state: 'error' });
  });

  it('does not judge where somebody could not be looked at who may have got them', () => {
    const rows = examinePulse([process('a', { tick: 60 })], { schedule, now, partial: true });

    expect(rows).toContainEqual(expect.objectContaining({ check: 'ticks', state: 'unknown' }));
  });

  it('are not expected where there are none', () => {
    const checks = examinePulse([process('a', {})], { schedule: undefined, now }).map(({ check }) => check);

    expect(checks).toEqual(['last success']);
  });
});

describe('the last success', () => {
  it.each<Case>([
    ['one of late', process('a', { tick: 3, success: 3 }), { state: 'ok', message: '3 minutes ago' }],
    ['a tick that is still at work', process('a', { tick: 0, success: 5 }), { state: 'ok' }],
    [
      'ticks that all fail',
      process('a', { tick: 1, success: 30 }),
      { state: 'error', message: /a gets ticks and fails/ },
    ],
    ['ticks that never succeeded', process('a', { tick: 1 }), { state: 'error', message: /was never/ }],
    ['a young process whose first tick failed', process('a', { tick: 1, start: 4 }), { state: 'unknown' }],
    ['nothing that would wake it', process('a', {}), { state: 'unknown', message: 'nothing has woken it yet' }],
    ['ticks that have ceased, after one that went well', process('a', { tick: 60, success: 60 }), { state: 'ok' }],
  ])('knows %s', (_what, vitals, { state, message = /./ }) => {
    expect(found('last success', [vitals])).toMatchObject({ state, message: expect.stringMatching(message) });
  });

  it('names the process that fails beside one that does well', () => {
    const failing = process('pod b', { tick: 2, success: 60 });

    expect(found('last success', [process('pod a', { tick: 1, success: 1 }), failing])).toMatchObject({
      state: 'error',
      message: expect.stringContaining('pod b gets ticks and fails: its last success was 60 minutes ago'),
    });
  });
});

describe('vitals', () => {
  const start = 'process_start_time_seconds 100';
  const told = { name: 'one', who: 'me' };

  it('are read from the metrics of that function alone', () => {
    const text = [
      start,
      'kube_reflex_last_tick_timestamp_seconds{function="other"} 200',
      'kube_reflex_last_tick_timestamp_seconds{function="one"} 300',
    ].join('\n');

    expect(vitalsOf(text, told)).toEqual({ who: 'me', started: 100, lastTick: 300, lastSuccess: undefined });
  });

  it('are not found in something else', () => {
    expect(vitalsOf('<html>', told)).toBeUndefined();
  });
});
