/** Flags outside of any group, as RE2 has them: they hold to the end. */
const flagged = /^([^()]*)\(\?([ims]+)\)(.*)$/s;

/** A pattern as kinds write it: Go's RE2, most of which JavaScript reads alike. Throws if it is not one. */
export function compilePattern(pattern: string, flags = 'u'): RegExp {
  return new RegExp(pattern.replace(flagged, '$1(?$2:$3)'), flags);
}
