import { styleText } from 'node:util';
import type { Entry, Tone, Word } from './live.ts';

/** Where entries are printed. */
export interface Page {
  /** Absent: lines are as long as they are. */
  readonly columns: number | undefined;
  readonly colour: boolean;
  /** In the order of their colours. */
  readonly functions: readonly string[];
}

const palette = [
  'cyan',
  'magenta',
  'green',
  'blue',
  'cyanBright',
  'magentaBright',
  'greenBright',
  'blueBright',
] as const;
const tones = { faint: 'gray', warning: 'yellow', error: 'red' } as const;

/** With less room than this beside the name, further lines begin below the name. */
const enoughRoom = 60;

/** The lines of one entry. Nothing is cut: what does not fit goes on, indented, on the next line. */
export function layOut(entry: Entry, page: Page): string {
  const { time, mark, rows } = entry;
  const width = Math.max(...page.functions.map((name) => name.length), entry.function.length);
  const head = `${time} ${mark} `;
  const textColumn = head.length + width + 2;
  const { columns = Number.POSITIVE_INFINITY } = page;
  const indent = columns - textColumn >= enoughRoom ? textColumn : head.length + 2;
  const lines = wrap(entry.words, { first: columns - textColumn, next: columns - indent });
  const name = paintName(entry.function.padEnd(width), page);
  const start = `${painted(time, 'faint', page)} ${painted(mark, toneOfMark(mark), page)} ${name}  `;
  const text = lines.map((words) => words.map((word) => painted(word.text, word.tone, page)).join(' '));
  const rowIndent = Math.min(indent, Math.max(2, columns - Math.max(0, ...rows.map((row) => row.length))));
  return [`${start}${text.join(`\n${' '.repeat(indent)}`)}`, ...rows.map((row) => ' '.repeat(rowIndent) + row)]
    .map((line) => `${line.trimEnd()}\n`)
    .join('');
}

/** A function has the same colour wherever its name stands. */
export function paintName(name: string, { colour, functions }: Page): string {
  const style = palette[Math.max(0, functions.indexOf(name.trim())) % palette.length] ?? 'cyan';
  return colour && functions.includes(name.trim()) ? styleText(style, name, { validateStream: false }) : name;
}

function painted(text: string, tone: Tone, { colour }: Page): string {
  return colour && tone !== 'plain' ? styleText(tones[tone], text, { validateStream: false }) : text;
}

function toneOfMark(mark: string): Tone {
  return mark === '!' ? 'warning' : mark === '✗' ? 'error' : 'plain';
}

/** A word that is longer than a line has one of its own: the terminal breaks it without adding anything to it. */
function wrap(words: readonly Word[], { first, next }: { readonly first: number; readonly next: number }): Word[][] {
  const lines: Word[][] = [[]];
  let room = first;
  for (const word of words) {
    const line = lines.at(-1) ?? [];
    if (line.length > 0 && word.text.length > room) {
      lines.push([word]);
      room = next - word.text.length - 1;
    } else {
      line.push(word);
      room -= word.text.length + 1;
    }
  }
  return lines;
}

/** Text in lines of at most that many characters, broken between words. */
export function wrapText(text: string, columns: number): string[] {
  const words = text.split(' ').map((word) => ({ text: word, tone: 'plain' }) as const);
  return wrap(words, { first: columns, next: columns }).map((line) => line.map((word) => word.text).join(' '));
}

/** A shell command over several lines that can be pasted as they are. */
export function wrapCommand(command: string, columns: number): string[] {
  if (command.length <= columns) {
    return [command];
  }
  const parts = command.split(/ (?=-)/).map((part) => ({ text: part, tone: 'plain' }) as const);
  const lines = wrap(parts, { first: columns - 2, next: columns - 6 });
  return lines.map((line, index) => {
    const text = line.map((word) => word.text).join(' ');
    return `${index === 0 ? '' : '    '}${text}${index === lines.length - 1 ? '' : ' \\'}`;
  });
}
