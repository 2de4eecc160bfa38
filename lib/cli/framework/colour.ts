import type { Environment } from '../../function/config.ts';

/** Colours on a terminal that has them; NO_COLOR forbids them anywhere, FORCE_COLOR asks for them anywhere. */
export function mayColour(
  stream: { readonly isTTY?: boolean },
  { NO_COLOR = '', FORCE_COLOR, TERM }: Environment,
): boolean {
  if (NO_COLOR !== '') {
    return false;
  }
  if (FORCE_COLOR !== undefined && FORCE_COLOR !== '') {
    return FORCE_COLOR !== '0' && FORCE_COLOR !== 'false';
  }
  return stream.isTTY === true && TERM !== 'dumb';
}
