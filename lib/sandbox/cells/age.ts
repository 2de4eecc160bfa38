const minute = 60;
const hour = 60 * minute;
const day = 24 * hour;
const year = 365 * day;

/** A duration in seconds as kubectl shows it: exact while short, rounded as it grows. */
export function humanDuration(seconds: number): string {
  const whole = Math.floor(seconds);
  if (whole < 0) {
    return whole < -1 ? '<invalid>' : '0s';
  }
  const step = steps.find(({ below }) => whole < below);
  return step ? twoUnits(whole, step) : `${Math.floor(whole / year)}y`;
}

interface Step {
  readonly below: number;
  readonly unit: Unit;
  /** The second, smaller unit that is still shown. */
  readonly rest?: Unit;
}

type Unit = readonly [seconds: number, letter: string];

const steps: readonly Step[] = [
  { below: 2 * minute, unit: [1, 's'] },
  { below: 10 * minute, unit: [minute, 'm'], rest: [1, 's'] },
  { below: 3 * hour, unit: [minute, 'm'] },
  { below: 8 * hour, unit: [hour, 'h'], rest: [minute, 'm'] },
  { below: 2 * day, unit: [hour, 'h'] },
  { below: 8 * day, unit: [day, 'd'], rest: [hour, 'h'] },
  { below: 2 * year, unit: [day, 'd'] },
  { below: 8 * year, unit: [year, 'y'], rest: [day, 'd'] },
];

function twoUnits(seconds: number, { unit: [size, letter], rest }: Step): string {
  const first = `${Math.floor(seconds / size)}${letter}`;
  if (rest === undefined) {
    return first;
  }
  const [restSize, restLetter] = rest;
  const second = Math.floor((seconds % size) / restSize);
  return second === 0 ? first : `${first}${second}${restLetter}`;
}
