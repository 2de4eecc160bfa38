/** The wanted fields of an object; `true` means the whole value. For a list, the wanted fields of each element. */
export type Fields = true | { readonly [name: string]: Fields };

/**
 * Parses only the wanted fields of a JSON text. If a tenth of it is wanted, this takes half the time and a tenth of the
 * memory of `JSON.parse`. Skipped parts are not checked. Overwrites `json`: the wanted parts are moved to its
 * beginning, which saves a second buffer for each page of a large list.
 */
export function skim(json: Buffer, fields: Fields): unknown {
  const text: Text = { json, kept: 0 };
  const end = skipSpace(json, keepWanted(text, skipSpace(json, 0), wantedOf(fields)));
  if (end !== json.length) {
    throw new SyntaxError(`unexpected character in JSON at position ${end}`);
  }
  return JSON.parse(json.toString('utf8', 0, text.kept));
}

/** The JSON text. Wanted parts are never longer than what was read so far, so they fit before it. */
interface Text {
  readonly json: Buffer;
  /** The number of bytes kept so far. */
  kept: number;
}

/** Fields with their names as bytes, so that names are compared without being decoded. */
type Wanted = true | readonly WantedField[];

interface WantedField {
  readonly name: Buffer;
  readonly wanted: Wanted;
}

function wantedOf(fields: Fields): Wanted {
  return fields === true
    ? true
    : Object.entries(fields).map(([name, each]) => ({ name: Buffer.from(name), wanted: wantedOf(each) }));
}

const quote = 0x22;
const comma = 0x2c;
const colon = 0x3a;
const backslash = 0x5c;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;

/** Keeps the wanted part of the value that begins at `start`. Returns its end, like most functions below. */
function keepWanted(text: Text, start: number, wanted: Wanted): number {
  const first = text.json[start];
  if (wanted !== true && (first === openBrace || first === openBracket)) {
    return first === openBrace ? keepOfObject(text, start, wanted) : keepOfList(text, start, wanted);
  }
  const end = skip(text.json, start);
  keep(text, start, end);
  return end;
}

function keepOfObject(text: Text, start: number, wanted: readonly WantedField[]): number {
  const { json } = text;
  let separator = openBrace;
  let at = skipSpace(json, start + 1);
  while (json[at] !== closeBrace) {
    const nameEnd = skipString(json, at);
    const value = skipSpace(json, skipSpace(json, nameEnd) + 1);
    const field = find(wanted, json, at + 1, nameEnd - 1);
    if (field === undefined) {
      at = skip(json, value);
    } else {
      put(text, separator);
      separator = comma;
      keep(text, at, nameEnd);
      put(text, colon);
      at = keepWanted(text, value, field.wanted);
    }
    at = skipSeparator(json, at);
  }
  close(text, separator, closeBrace);
  return at + 1;
}

function keepOfList(text: Text, start: number, wanted: Wanted): number {
  const { json } = text;
  let separator = openBracket;
  let at = skipSpace(json, start + 1);
  while (json[at] !== closeBracket) {
    put(text, separator);
    separator = comma;
    at = skipSeparator(json, keepWanted(text, at, wanted));
  }
  close(text, separator, closeBracket);
  return at + 1;
}

/** If nothing was kept, the opening bracket is still missing. */
function close(text: Text, separator: number, end: number): void {
  if (separator !== comma) {
    put(text, separator);
  }
  put(text, end);
}

function put(text: Text, byte: number): void {
  text.json[text.kept] = byte;
  text.kept += 1;
}

function keep(text: Text, start: number, end: number): void {
  text.json.copyWithin(text.kept, start, end);
  text.kept += end - start;
}

function find(wanted: readonly WantedField[], json: Buffer, start: number, end: number): WantedField | undefined {
  for (const field of wanted) {
    if (isAt(json, start, end, field.name)) {
      return field;
    }
  }
  return undefined;
}

function isAt(json: Buffer, start: number, end: number, name: Buffer): boolean {
  if (name.length !== end - start) {
    return false;
  }
  let at = 0;
  while (at < name.length && name[at] === json[start + at]) {
    at += 1;
  }
  return at === name.length;
}

/** Skips one value of any type. */
function skip(json: Buffer, start: number): number {
  const first = json[start];
  if (first === quote) {
    return skipString(json, start);
  }
  return first === openBrace || first === openBracket ? skipNested(json, start) : skipPlain(json, start);
}

function skipString(json: Buffer, start: number): number {
  for (let at = start + 1; at < json.length; at += 1) {
    const byte = json[at];
    if (byte === quote) {
      return at + 1;
    }
    if (byte === backslash) {
      at += 1;
    }
  }
  throw new SyntaxError('unexpected end of JSON');
}

function skipNested(json: Buffer, start: number): number {
  let depth = 0;
  for (let at = start; at < json.length; at += 1) {
    const byte = json[at];
    if (byte === quote) {
      at = skipString(json, at) - 1;
    } else if (byte === openBrace || byte === openBracket) {
      depth += 1;
    } else if (byte === closeBrace || byte === closeBracket) {
      depth -= 1;
      if (depth === 0) {
        return at + 1;
      }
    }
  }
  throw new SyntaxError('unexpected end of JSON');
}

/** Skips a number, true, false or null. */
function skipPlain(json: Buffer, start: number): number {
  let at = start;
  while (at < json.length && !endsPlain(json[at] ?? 0)) {
    at += 1;
  }
  if (at === start) {
    throw new SyntaxError(`unexpected JSON at position ${at}`);
  }
  return at;
}

function endsPlain(byte: number): boolean {
  return byte <= 0x20 || byte === comma || byte === closeBrace || byte === closeBracket;
}

function skipSpace(json: Buffer, start: number): number {
  let at = start;
  while (at < json.length && (json[at] ?? 0) <= 0x20) {
    at += 1;
  }
  return at;
}

function skipSeparator(json: Buffer, at: number): number {
  const next = skipSpace(json, at);
  return json[next] === comma ? skipSpace(json, next + 1) : next;
}
