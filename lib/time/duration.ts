import { quote } from '../base/quote.ts';

const units: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3, // U+00B5, the micro sign
  μs: 1e-3, // U+03BC, the Greek letter
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
};

// Each text matches in one way only. With `\d+\.?\d*`, refusing a long row of digits took seconds.
const amount = /(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h)/g;
const duration = new RegExp(`^[-+]?(0|(${amount.source})+)$`);

/** Go keeps durations in 64 bits of nanoseconds (about 292 years) and refuses longer ones. */
const longestMs = 2 ** 63 / 1e6;

/**
 * Reads a duration as Go writes it (`1h30m`, `1.5h`, `-90s`) and returns milliseconds. There is no unit for days.
 * Throws an error that names the problem.
 */
export function parseDuration(text: string): number {
  if (!duration.test(text)) {
    throw new Error(`${quote(text)} is not a duration such as 90s, 30m or 1h30m (units: ns, us, ms, s, m, h)`);
  }
  const sum = [...text.matchAll(amount)].reduce(
    (ms, [, value, unit = '']) => ms + Number(value) * (units[unit] ?? 0),
    0,
  );
  if (sum >= longestMs) {
    throw new Error(`${quote(text)} is longer than 292 years`);
  }
  // Round to whole nanoseconds, as Go does, to remove errors of floating point.
  const ms = Math.round(sum * 1e6) / 1e6;
  return text.startsWith('-') ? -ms : ms;
}

/** Formats whole seconds as Go does: `1h30m0s`. */
export function formatDuration(ms: number): string {
  const seconds = Math.floor(Math.abs(ms) / 1000);
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  const parts = [hours > 0 ? `${hours}h` : '', seconds >= 60 ? `${minutes}m` : '', `${seconds % 60}s`];
  return `${ms < 0 && seconds > 0 ? '-' : ''}${parts.join('')}`;
}
