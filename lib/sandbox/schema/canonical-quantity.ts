const written = /^(-?)(\d*)\.?(\d*)([numkMGTPE]|[KMGTPE]i)?$/;
const decimal = ['n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E'] as const;
const binary = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'] as const;
const nano = 9n;

/**
 * A quantity as the API server writes it: the largest suffix that leaves a whole number.
 * Forms with an exponent, which nobody uses, stay as they are.
 */
export function canonicalQuantity(value: string | number): string {
  const text = String(value);
  const [, sign = '', whole = '', fraction = '', suffix = ''] = written.exec(text) ?? [];
  if (whole + fraction === '' || fraction.length > Number(nano)) {
    return text;
  }
  const nanos = BigInt(whole + fraction) * 10n ** (nano - BigInt(fraction.length));
  const canonical = suffix.endsWith('i')
    ? binaryText(binaryNanos(nanos, suffix))
    : decimalText(decimalNanos(nanos, suffix));
  return canonical === undefined ? text : sign + canonical;
}

function binaryNanos(nanos: bigint, suffix: string): bigint {
  return nanos * 1024n ** BigInt(binary.findIndex((each) => each === suffix));
}

/** `undefined` for less than a nano. */
function decimalNanos(nanos: bigint, suffix: string): bigint | undefined {
  const power = decimal.findIndex((each) => each === suffix) - 3;
  const factor = 1000n ** BigInt(Math.abs(power));
  if (power >= 0) {
    return nanos * factor;
  }
  return nanos % factor === 0n ? nanos / factor : undefined;
}

function decimalText(nanos: bigint | undefined): string | undefined {
  if (nanos === undefined || nanos === 0n) {
    return nanos === undefined ? undefined : '0';
  }
  let mantissa = nanos;
  let index = 0;
  while (index < decimal.length - 1 && mantissa % 1000n === 0n) {
    mantissa /= 1000n;
    index += 1;
  }
  return `${mantissa}${decimal[index] ?? ''}`;
}

/** Small and broken numbers have no binary form. */
function binaryText(nanos: bigint): string | undefined {
  const one = 10n ** nano;
  let mantissa = nanos / one;
  if (nanos % one !== 0n || mantissa < 1024n) {
    return decimalText(nanos);
  }
  let index = 0;
  while (index < binary.length - 1 && mantissa % 1024n === 0n) {
    mantissa /= 1024n;
    index += 1;
  }
  return `${mantissa}${binary[index] ?? ''}`;
}
