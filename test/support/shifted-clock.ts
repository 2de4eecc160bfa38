/**
 * `node --import <this file>` with `CLOCK_SECOND=20`: the clock of the process is up to a minute ahead, so that it starts at
 * that second of a minute.
 */
const second = Number(process.env['CLOCK_SECOND']);
const aheadMs = (second * 1000 + 60_000 - (Date.now() % 60_000)) % 60_000;
const machineNow = Date.now;

globalThis.Date = class extends Date {
  constructor(...given: readonly unknown[]) {
    super(...((given.length === 0 ? [machineNow() + aheadMs] : given) as [number]));
  }

  static override now(): number {
    return machineNow() + aheadMs;
  }
} as DateConstructor;
