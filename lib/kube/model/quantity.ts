const quantity =
  /^(?<number>[-+]?(?:\d+(?:\.\d*)?|\.\d+))(?:[eE](?<exponent>[-+]?\d{1,2})|(?<suffix>[numkMGTPE]|[KMGTPE]i))?$/;

/** Longer texts are compared literally: they come from reviews, and computing with huge numbers takes long. */
const longestText = 100;

const decimal: Readonly<Record<string, number>> = { n: -9, u: -6, m: -3, k: 3, M: 6, G: 9, T: 12, P: 15, E: 18 };
const binary: Readonly<Record<string, bigint>> = { Ki: 10n, Mi: 20n, Gi: 30n, Ti: 40n, Pi: 50n, Ei: 60n };

/** Whether two resource quantities are equal: `1` and `1000m`, `1Gi` and `1024Mi`. */
export function sameQuantity(a: string | number, b: string | number): boolean {
  const [left, right] = [amountOf(String(a)), amountOf(String(b))];
  return left !== undefined && right !== undefined && areEqual(left, right);
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

function areEqual(a: Amount, b: Amount): boolean {
  const least = Math.min(a.power, b.power);
  return a.digits * 10n ** BigInt(a.power - least) === b.digits * 10n ** BigInt(b.power - least);
}
