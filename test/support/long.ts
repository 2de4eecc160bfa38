/** `npm run test:long` sets `LONG`: suites then run in full what they otherwise run in a short form. */
export const isLong = process.env['LONG'] === '1';

/** How much of something a suite does: `long(1_000_000, 50_000)` inputs. */
export function long(full: number, short: number): number {
  return isLong ? full : short;
}
