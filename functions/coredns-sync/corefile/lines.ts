import { CorefileError, corefilePath, type ServerBlock } from './parse.ts';
import type { Token } from './token.ts';

/** A replacement of `[start, end)`. */
export interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

export function apply(text: string, edits: readonly Edit[]): string {
  return edits
    .toSorted((left, right) => right.start - left.start)
    .reduce((edited, { start, end, text: insert }) => edited.slice(0, start) + insert + edited.slice(end), text);
}

/** Lines put into a block right after its brace, or right before the closing one, indented like its first directive. */
export function insertLines(
  text: string,
  block: ServerBlock,
  position: 'first' | 'last',
  lines: readonly string[],
): Edit {
  const indent = indentOf(text, block);
  const anchor = block.open ?? block.keys.at(-1);
  if (anchor === undefined) {
    throw new CorefileError('a block without keys');
  }
  const lineEnd = text.indexOf('\n', anchor.end);
  const eol = text.slice(0, lineEnd).endsWith('\r') ? '\r\n' : '\n';
  const body = lines.map((line) => `${indent}${line}${eol}`).join('');
  if (position === 'last' && block.close !== undefined) {
    return insertAt(startOfLine(text, block.close.start), body);
  }
  return lineEnd < 0 ? insertAt(text.length, `\n${body.trimEnd()}`) : insertAt(lineEnd + 1, body);
}

/** A line put right after the one on which a block ends. */
export function lineAfter(text: string, { close }: Pick<ServerBlock, 'close'>, line: string): Edit {
  if (close === undefined) {
    throw new CorefileError('a block without braces takes everything that follows it');
  }
  const lineEnd = text.indexOf('\n', close.end);
  const eol = text.slice(0, lineEnd).endsWith('\r') ? '\r\n' : '\n';
  return lineEnd < 0 ? insertAt(text.length, `\n${line}`) : insertAt(lineEnd + 1, `${line}${eol}`);
}

/** The whole line on which a token stands, with its end. */
export function lineOf(text: string, { start, end }: Pick<Token, 'start' | 'end'>): Edit {
  const lineEnd = text.indexOf('\n', end);
  const from = startOfLine(text, start);
  return lineEnd < 0
    ? { start: Math.max(0, from - 1), end: text.length, text: '' }
    : { start: from, end: lineEnd + 1, text: '' };
}

function indentOf(text: string, block: ServerBlock): string {
  const first = [...block.imports.map(({ directive }) => directive), ...block.directives.map(({ name }) => name)]
    .filter((token) => isInside(token, block))
    .sort((left, right) => left.start - right.start)[0];
  const lead = first === undefined ? '' : text.slice(startOfLine(text, first.start), first.start);
  return first !== undefined && /^[ \t]*$/.test(lead) ? lead : '    ';
}

/** Does the token stand in the block itself, and not in a snippet or file that it imports? */
export function isInside({ file, start }: Token, { keys, close }: ServerBlock): boolean {
  return file === corefilePath && start > (keys[0]?.start ?? 0) && start < (close?.start ?? Infinity);
}

function startOfLine(text: string, from: number): number {
  return text.lastIndexOf('\n', from - 1) + 1;
}

function insertAt(at: number, text: string): Edit {
  return { start: at, end: at, text };
}
