const quantity =
  /^(?<number>[-+]?(?:\d+(?:\.\d*)?|\.\d+))(?:[eE](?<exponent>[-+]?\d{1,2})|(?<suffix>[numkMGTPE]|[KMGTPE]i))?$/;

/** Longer texts are compared literally: they come from reviews, and computing with huge numbers takes long. */
const longestText = 100;

const decimal: Readonly<Record<string, number>> = { n: -9, u: -6, m: -3, k: 3, M: 6, G: 9, T: 12, P: 15, E: 18 };
const binary: Readonly<Record<string, bigint>> = { Ki: 10n, Mi: 20n, Gi: 30n, Ti: 40n, Pi: 50n, Ei: 60n };

/** Whether two resource quantities are equal: `1` and `1000m`, `1Gi` and `1024Mi`. */
export function sameQuantity(a: string | number, b: string | number): boolean {
  return compareQuantities(a, b) === 0;
}

/** The same text for every notation of an amount, for hashing. Other texts are returned unchanged. */
export function canonicalQuantity(text: string): string {
  const amount = amountOf(text);
  if (amount === undefined) {
    return text;
  }
  const digits = String(amount.digits);
  const significant = digits.replace(/0+$/, '');
  return significant === '' ? '0' : `${significant}e${amount.power + digits.length - significant.length}`;
}

/** Less than zero when `a` is the smaller amount, zero when they are the same; `undefined` when one is no quantity. */
export function compareQuantities(a: string | number, b: string | number): number | undefined {
  const [left, right] = [amountOf(String(a)), amountOf(String(b))];
  if (left === undefined || right === undefined) {
    return undefined;
  }
  const [one, other] = aligned(left, right);
  return one === other ? 0 : one < other ? -1 : 1;
}

/**
 * A quantity as the API server stores it: rounded up to whole nanos, with the largest suffix of its own kind that leaves
 * a whole number. `1Gi` and `1073741824` are the same amount and stay different texts.
 */
export function storedQuantity(value: string | number): string {
  const text = String(value);
  const amount = amountOf(text);
  if (amount === undefined) {
    return text;
  }
  const nanos = nanosOf(amount);
  const whole = nanos / nanosInOne;
  const isBinary = text.endsWith('i') && nanos % nanosInOne === 0n && (whole >= 1024n || whole <= -1024n);
  return isBinary ? suffixed(whole, 1024n, binarySuffixes) : suffixed(nanos, 1000n, decimalSuffixes(text));
}

const nanosInOne = 10n ** 9n;
const binarySuffixes = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];

/** Who writes an exponent gets one back. */
function decimalSuffixes(text: string): readonly string[] {
  return /[eE][-+]?\d/.test(text)
    ? ['e-9', 'e-6', 'e-3', 'e0', 'e3', 'e6', 'e9', 'e12', 'e15', 'e18']
    : ['n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E'];
}

function suffixed(mantissa: bigint, base: bigint, suffixes: readonly string[]): string {
  let [left, index] = [mantissa, 0];
  while (left !== 0n && index < suffixes.length - 1 && left % base === 0n) {
    left /= base;
    index += 1;
  }
  return left === 0n ? '0' : `${left}${suffixes[index] ?? ''}`;
}

/** Whole nanos, rounded away from zero. */
function nanosOf({ digits, power }: Amount): bigint {
  const shift = power + 9;
  if (shift >= 0) {
    return digits * 10n ** BigInt(shift);
  }
  const divisor = 10n ** BigInt(-shift);
  const rest = digits % divisor;
  const up = rest === 0n ? 0n : rest > 0n ? 1n : -1n;
  return digits / divisor + up;
}

/** `digits` × 10^`power`. */
interface Amount {
  readonly digits: bigint;
  readonly power: number;
}

function amountOf(text: string): Amount | undefined {
  const found = text.length > longestText ? undefined : quantity.exec(text)?.groups;
  const { number, exponent = '0', suffix = '' } = found ?? {};
  if (number === undefined) {
    return undefined;
  }
  const fraction = number.split('.')[1] ?? '';
  return {
    digits: BigInt(number.replace('.', '').replace('+', '')) << (binary[suffix] ?? 0n),
    power: Number(exponent) + (decimal[suffix] ?? 0) - fraction.length,
  };
}

/** The digits of both at the same power of ten. */
function aligned(a: Amount, b: Amount): readonly [bigint, bigint] {
  const least = Math.min(a.power, b.power);
  return [a.digits * 10n ** BigInt(a.power - least), b.digits * 10n ** BigInt(b.power - least)];
}
