/** A word of a Corefile and where it stands. */
export interface Token {
  /** Without quotes; references to the environment as they are written. */
  readonly text: string;
  readonly file: string;
  readonly line: number;
  /** Offsets in the text of the file, quotes included. */
  readonly start: number;
  readonly end: number;
}

const space = '\\t\\v\\f \\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000';

/** One after the other: the end of a line, what counts for nothing, a quoted word, a bare word. */
const piece = new RegExp(`(\\n)|(?:[${space}\\r]+|#[^\\n]*)|"((?:[^"\\\\]|\\\\[^])*)"?|([^${space}\\n#]+)`, 'gy');

/**
 * The words of a text, by the rules of CoreDNS: `#` starts a comment even inside a word, `"` a quoted word only at its
 * start, a carriage return counts for nothing, and inside quotes `\"` is the only escape.
 */
export function tokenize(text: string, file = ''): readonly Token[] {
  const tokens: Token[] = [];
  let line = 1;
  for (const { 0: whole, 1: newline, 2: quoted, 3: bare, index } of text.replace(/^\ufeff/, ' ').matchAll(piece)) {
    if (newline !== undefined) {
      line += 1;
    } else if (quoted !== undefined || bare !== undefined) {
      const word = quoted?.replaceAll('\\"', '"') ?? bare?.replaceAll('\r', '') ?? '';
      tokens.push({ text: word, file, line, start: index, end: index + whole.length });
      line += lineBreaks(word);
    }
  }
  return tokens;
}

/** Does the token begin a line, given the one before it? */
export function startsLine(previous: Token | undefined, token: Token): boolean {
  return previous?.file !== token.file || lastLine(previous) < token.line;
}

/** The line on which a token ends: a quoted one may span several. */
function lastLine({ line, text }: Token): number {
  return line + lineBreaks(text);
}

function lineBreaks(text: string): number {
  return text.includes('\n') ? text.split('\n').length - 1 : 0;
}
