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

const space = /[\t\n\v\f\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]/;

/**
 * The words of a text, by the rules of CoreDNS: `#` starts a comment even inside a word, `"` a quoted word only at its
 * start, a carriage return counts for nothing, and inside quotes `\"` is the only escape.
 */
export function tokenize(text: string, file = ''): readonly Token[] {
  const tokens: Token[] = [];
  let at = text.startsWith('\ufeff') ? 1 : 0;
  let line = 1;
  while (at < text.length) {
    const character = text.charAt(at);
    if (character === '#') {
      at = endOfLine(text, at);
    } else if (space.test(character)) {
      line += Number(character === '\n');
      at += 1;
    } else {
      const word = character === '"' ? quoted(text, at) : bare(text, at);
      tokens.push({ text: word.text, file, line, start: at, end: word.end });
      line += count(text.slice(at, word.end), '\n');
      at = word.end;
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
  return line + count(text, '\n');
}

interface Word {
  readonly text: string;
  readonly end: number;
}

function bare(text: string, start: number): Word {
  let end = start;
  while (
    end < text.length &&
    text.charAt(end) !== '#' &&
    (text.charAt(end) === '\r' || !space.test(text.charAt(end)))
  ) {
    end += 1;
  }
  return { text: text.slice(start, end).replaceAll('\r', ''), end };
}

function quoted(text: string, start: number): Word {
  let end = start + 1;
  while (end < text.length && text.charAt(end) !== '"') {
    end += text.charAt(end) === '\\' ? 2 : 1;
  }
  return { text: text.slice(start + 1, end).replaceAll('\\"', '"'), end: Math.min(end + 1, text.length) };
}

function endOfLine(text: string, from: number): number {
  const end = text.indexOf('\n', from);
  return end < 0 ? text.length : end;
}

function count(text: string, character: string): number {
  return text.split(character).length - 1;
}
