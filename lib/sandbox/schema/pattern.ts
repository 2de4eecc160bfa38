/** Flags ahead of all letters, as RE2 has them: they hold to the end, and so for the whole. */
const flagged = /^([^()\p{L}]*)\(\?([ims]+)\)(.*)$/su;

/** A pattern as kinds write it: Go's RE2, most of which JavaScript reads alike. Throws if it is not one. */
export function compilePattern(pattern: string, flags = 'u'): RegExp {
  const [, before, added = '', after] = flagged.exec(pattern) ?? [];
  return new RegExp(before === undefined ? pattern : `${before}${after}`, `${flags}${added}`);
}
