import { hash } from 'node:crypto';
import { canonicalJson } from './json.ts';

/**
 * The sha256 of a text in hexadecimal, cut to `digits` characters.
 *
 * | digits | use                                          |
 * | ------ | -------------------------------------------- |
 * | 12, 16 | names and annotations that people read       |
 * | 64     | values that an attacker might try to collide |
 */
export function digest(text: string, digits = 64): string {
  return hash('sha256', text).slice(0, digits);
}

/** The digest of a JSON value. Equal values have equal digests, in whatever order their keys are. */
export function digestOf(value: unknown, digits = 64): string {
  return digest(canonicalJson(value), digits);
}
