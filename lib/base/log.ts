import { pino, stdTimeFunctions, type DestinationStream, type Logger } from 'pino';

export interface LogOptions {
  readonly level: string;
  /** Write readable lines instead of JSON. */
  readonly readable: boolean;
  /** The Knative revision, if there is one. */
  readonly revision?: string | undefined;
  readonly destination?: DestinationStream;
}

export function createLog({ level, readable, revision, destination = process.stdout }: LogOptions): Logger {
  return pino(
    {
      level,
      base: revision === undefined ? {} : { revision },
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    readable ? { write: (line) => destination.write(readableLine(line)) } : destination,
  );
}

interface Line {
  readonly level: string;
  readonly time: string;
  readonly msg?: string;
  readonly function?: string;
  readonly err?: { readonly message?: string; readonly stack?: string };
}

const marks: Readonly<Record<string, string>> = { warn: '!', error: '✗', fatal: '✗' };

/** Formats one log record for a person: time, function, message, then the other fields. */
export function readableLine(json: string): string {
  const { level, time, msg = '', function: name = '', err, ...fields } = JSON.parse(json) as Line;
  const shown = Object.entries(fields).map(
    ([key, value]) => `${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
  );
  const cause = err === undefined ? [] : [err.stack ?? err.message ?? ''];
  return `${[time.slice(11, 19), marks[level] ?? ' ', name.padEnd(20), msg, ...shown, ...cause].join(' ').trimEnd()}\n`;
}
