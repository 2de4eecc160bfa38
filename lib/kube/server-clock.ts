/** What the Date of answers tells about the clock of the API server, the one clock that all instances share. */
export interface ServerClock {
  readonly saw: (date: string | undefined, call: { readonly sentAt: Date; readonly receivedAt: Date }) => void;
  /** As of the last answer, in whole seconds. */
  readonly time: () => Date | undefined;
  readonly skewMs: () => number;
}

/** A Date names a second, which was at some moment between the question and its answer. */
const secondMs = 1000;

/** Less may be a server that writes the Date of a moment ago, and is no trouble for anybody. */
const toleratedMs = 2 * secondMs;

/**
 * Each answer bounds how far the server is ahead; what all of them allow is known better than from any one. Answers that
 * contradict each other mean that a clock was set: then the last one counts.
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
