import { pino, stdTimeFunctions, type DestinationStream, type Logger } from 'pino';
import { readable, type LogRecord } from './readable.ts';

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

/** One log record for a person: time, function, message, then the fields that say what it was about. */
export function readableLine(json: string): string {
  const { time, mark, function: name, message, fields, stack } = readable(JSON.parse(json) as LogRecord);
  const cause = stack === undefined ? [] : [stack];
  return `${[time, mark, name.padEnd(20), message, ...fields, ...cause].join(' ').trimEnd()}\n`;
}
