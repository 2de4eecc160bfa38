import type { ExitCode } from './command.ts';

/** What the command line says makes no sense: exit code 2, and where to read what would. */
export class UsageError extends Error {
  constructor(message: string, options: ErrorOptions = {}) {
    super(message, options);
    this.name = 'UsageError';
  }
}

/** A command ends with this exit code, for a reason that its help would not explain. */
export class CommandError extends Error {
  readonly code: ExitCode;

  constructor(code: ExitCode, message: string, options: ErrorOptions = {}) {
    super(message, options);
    this.name = 'CommandError';
    this.code = code;
  }
}
