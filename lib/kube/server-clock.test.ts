import { describe, expect, it } from '@jest/globals';
import { createServerClock } from './server-clock.ts';

const noon = Date.parse('2026-01-01T12:00:00Z');

/** The skew after answers of a server whose clock was `ahead` ms ahead, each answer taking `took` ms. */
function skewAfter(
  answers: readonly { readonly at: number; readonly ahead: number; readonly took?: number }[],
): number {
  const clock = createServerClock();
  for (const { at, ahead, took = 10 } of answers) {
    const [sentAt, receivedAt] = [new Date(noon + at), new Date(noon + at + took)];
    clock.saw(new Date(noon + at + ahead).toUTCString(), { sentAt, receivedAt });
  }
  return clock.skewMs();
}

describe('the skew between the clocks of this machine and of the API server', () => {
  it.each([0, 400, -400, 1_000, -1_000])('is 0 if whole seconds can explain the difference: %i ms', (ahead) => {
    const answers = [100, 350, 600, 850].map((at) => ({ at, ahead }));

    expect(skewAfter(answers)).toBe(0);
  });

  it.each([40_000, -40_000, 3_600_500])(
    'is known within a second after one answer, and better after more: %i ms',
    (ahead) => {
      const answers = [0, 130, 260, 390, 520, 650, 780, 910].map((at) => ({ at, ahead }));

      expect(Math.abs(skewAfter(answers.slice(0, 1)) - ahead)).toBeLessThanOrEqual(1_010);
      expect(Math.abs(skewAfter(answers) - ahead)).toBeLessThanOrEqual(150);
    },
  );

  it('does not get less exact by an answer that took long', () => {
    const quick = { at: 0, ahead: 40_000 };

    expect(skewAfter([quick, { at: 500, ahead: 40_000, took: 9_000 }])).toBe(skewAfter([quick]));
  });

  it('follows a clock that was set', () => {
    expect(
      skewAfter([
        { at: 0, ahead: 40_000 },
        { at: 5_000, ahead: 0 },
      ]),
    ).toBe(0);
  });

  it.each([undefined, 'soon'])('is 0 without a valid Date: %s', (date) => {
    const clock = createServerClock();
    clock.saw(date, { sentAt: new Date(noon), receivedAt: new Date(noon) });

    expect([clock.skewMs(), clock.time()]).toEqual([0, undefined]);
  });
});
