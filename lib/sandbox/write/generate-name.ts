import { randomInt } from 'node:crypto';

/** Letters and digits that make no words and look unlike each other, as Kubernetes uses them. */
const alphabet = 'bcdfghjklmnpqrstvwxz2456789';
const suffixLength = 5;
const longestBase = 63 - suffixLength;

/** A name that begins with `base`; `undefined` without one. */
export function generatedName(base: string | undefined): string | undefined {
  if (base === undefined || base === '') {
    return undefined;
  }
  const suffix = Array.from({ length: suffixLength }, () => alphabet.charAt(randomInt(alphabet.length)));
  return base.slice(0, longestBase) + suffix.join('');
}
