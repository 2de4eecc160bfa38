import { hash } from 'node:crypto';
import { canonicalJson } from './json.ts';

/**
 * The sha256 of a text as hexadecimal digits, shortened to as many as asked for.
 *
 * | digits | use                                                        |
 * | ------ | ---------------------------------------------------------- |
 * | 12, 16 | names and annotations that people read                     |
 * | 64     | whatever an attacker might want to make collide            |
 */
export function digest(text: string, digits = 64): string {
  return hash('sha256', text).slice(0, digits);
}

/** The digest of a JSON value: equal for equal values, whatever the order of their keys. */
export function digestOf(value: unknown, digits = 64): string {
  return digest(canonicalJson(value), digits);
}
