import { readable, subjectOf, type LogRecord } from '../../base/readable.ts';

/** How a part of a line looks. */
export type Tone = 'plain' | 'faint' | 'warning' | 'error';

/** A piece of text that stays on one line. */
export interface Word {
  readonly text: string;
  readonly tone: Tone;
}

/** One log record for somebody who watches. */
export interface Entry {
  readonly time: string;
  readonly mark: string;
  readonly function: string;
  readonly words: readonly Word[];
  /** Lines to show below as they are. */
  readonly rows: readonly string[];
}

interface Handled extends LogRecord {
  readonly change?: string;
  readonly type?: string;
  readonly steps?: readonly string[];
  readonly calls?: number;
  readonly ms?: number;
  /** What admission did to an object on its way. */
  readonly did?: string;
  readonly condition?: string;
  readonly messages?: readonly string[];
  readonly action?: string;
}

const pastTense: Readonly<Record<string, string>> = {
  add: 'added',
  create: 'created',
  update: 'changed',
  delete: 'deleted',
};

/** Log records that only repeat what the introduction or the line of their event says. */
const repeated = new Set(['step', 'listening', 'draining', 'watching']);

/** Fields that help nobody who only watches. */
const hidden = /^(uid|event|revision)=|=""$/;

/**
 * Turns log records into what a person wants to see of them: what changed → what the function did about it, and what
 * that cost; `undefined` where a record has nothing to add. With `details` (somebody asked for a level) nothing is left
 * out. Otherwise a function shows its first tick, then only what it did to objects other than its own state, and of a
 * table only the rows that changed.
 */
export function createLive({ details }: { readonly details: boolean }): (json: string) => Entry | undefined {
  const ticked = new Set<string>();
  const tables = new Map<string, ReadonlySet<string>>();

  function isFirstTick(record: Handled): boolean {
    const { function: name = '' } = record;
    const isFirst = isTick(record) && !ticked.has(name);
    if (isFirst) {
      ticked.add(name);
    }
    return isFirst;
  }

  function handledEntry(record: Handled): Entry | undefined {
    const isFirst = isFirstTick(record);
    const { own, others } = sorted(record);
    if (!details && !isFirst && others.length === 0) {
      return undefined;
    }
    const shown = [...others, ...(own.length > 0 && !details ? ['its state'] : own)];
    const outcome = shown.length === 0 ? 'nothing to do' : shown.join(', ').replace(/^its state$/, 'wrote its state');
    const what = `${isFirst ? 'first ' : ''}${whatChanged(record)}`;
    const words = plain(`${what} → ${outcome}`);
    return entryOf(record, [...words, costOf(record)]);
  }

  /** A message of several lines is a table: a title, heads, rows. */
  function tableEntry(record: Handled, lines: readonly string[]): Entry {
    const { function: name = '' } = record;
    const [title = '', ...rows] = lines;
    const last = tables.get(name);
    tables.set(name, new Set(rows.map(squeezed)));
    return entryOf(record, plain(title), details ? rows : rows.filter((row) => last?.has(squeezed(row)) !== true));
  }

  return (json) => {
    const record = JSON.parse(json) as Handled;
    const { msg = '', level, did = '' } = record;
    if (msg === 'admitted') {
      return entryOf(record, plain(`${whatChanged({ ...record, change: 'create' })} → ${did}`));
    }
    if (msg === 'handled') {
      return handledEntry(record);
    }
    if (msg === 'condition') {
      return conditionEntry(record);
    }
    if (!details && (level === 'debug' || repeated.has(msg))) {
      return undefined;
    }
    const lines = msg.trim().split('\n');
    return lines.length > 1 ? tableEntry(record, lines) : messageEntry(record, details);
  };
}

function costOf({ calls = 0, ms = 0 }: Handled): Word {
  return { text: `(${ms} ms, ${calls} API calls)`, tone: 'faint' };
}

/** Columns get wider with their content; that is no change. */
function squeezed(row: string): string {
  return row.replaceAll(/\s+/g, ' ').trim();
}

function messageEntry(record: LogRecord, details: boolean): Entry {
  const { message, fields, stack = '' } = readable(record);
  const shown = details ? fields : fields.filter((field) => !hidden.test(field));
  const words = [...wordsOf(message, toneOf(record)), ...shown.flatMap((field) => wordsOf(field, 'faint'))];
  return entryOf(record, words, stack === '' ? [] : stack.split('\n'));
}

function conditionEntry(record: Handled): Entry {
  const { condition = '', messages = [], action = '' } = record;
  const words = [
    ...wordsOf(`${condition}: ${messages.join('; ')}`, toneOf(record)),
    ...wordsOf(`→ ${action}`, 'faint'),
  ];
  return entryOf(record, words);
}

function toneOf({ level }: LogRecord): Tone {
  const tones: Readonly<Record<string, Tone>> = { warn: 'warning', error: 'error', fatal: 'error' };
  return tones[level] ?? 'plain';
}

function entryOf(record: LogRecord, words: readonly Word[], rows: readonly string[] = []): Entry {
  const { time, mark, function: name } = readable(record);
  return { time, mark, function: name, words, rows };
}

function plain(text: string): Word[] {
  return wordsOf(text, 'plain');
}

function wordsOf(text: string, tone: Tone): Word[] {
  return text.split(' ').map((word) => ({ text: word, tone }));
}

/** What the function wrote, each once: into the ConfigMaps and Secrets that carry its name, and elsewhere. */
function sorted({ function: name = '', steps = [] }: Handled): { own: readonly string[]; others: readonly string[] } {
  const bookkeeping = new RegExp(`^(would )?\\w+ (ConfigMap|Secret) ([^/ ]+/)?${name}-`);
  const distinct = [...new Set(steps)];
  return {
    own: distinct.filter((step) => bookkeeping.test(step)),
    others: distinct.filter((step) => !bookkeeping.test(step)),
  };
}

function isTick({ change, type = '' }: Handled): boolean {
  return change === undefined && type.endsWith('.ping');
}

function whatChanged(record: Handled): string {
  const { change, type = '' } = record;
  if (change === undefined) {
    return isTick(record) ? 'tick' : type;
  }
  return `${subjectOf(record)} ${pastTense[change] ?? change}`;
}
