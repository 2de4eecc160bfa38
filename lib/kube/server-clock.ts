/** Derives the API server's clock, which all instances share, from the Date header of its answers. */
export interface ServerClock {
  readonly saw: (date: string | undefined, call: { readonly sentAt: Date; readonly receivedAt: Date }) => void;
  /** At the last answer, in whole seconds. */
  readonly time: () => Date | undefined;
  readonly skewMs: () => number;
}

/** A Date names a second; the answer was written at some moment between request and arrival. */
const secondMs = 1000;

/** Below this the difference may come from a server that caches its Date, and is harmless. */
const toleratedMs = 2 * secondMs;

/**
 * Each answer bounds the skew, and the intersection of all bounds is narrower than any single one. If answers
 * contradict each other, a clock was set, and only the last answer counts.
 */
export function createServerClock(): ServerClock {
  let last: Date | undefined;
  let [least, most] = [-Infinity, Infinity];

  return {
    saw: (text, { sentAt, receivedAt }) => {
      const date = new Date(text ?? Number.NaN);
      if (Number.isNaN(date.getTime())) {
        return;
      }
      last = date;
      const bounds = [date.getTime() - receivedAt.getTime(), date.getTime() + secondMs - sentAt.getTime()] as const;
      const [low, high] = [Math.max(least, bounds[0]), Math.min(most, bounds[1])];
      [least, most] = low <= high ? [low, high] : bounds;
    },
    time: () => last,
    skewMs: () => {
      if (least > toleratedMs) {
        return least;
      }
      return most < -toleratedMs ? most : 0;
    },
  };
}
