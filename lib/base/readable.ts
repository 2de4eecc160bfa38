/** A log record as pino writes it. */
export interface LogRecord {
  readonly level: string;
  readonly time: string;
  readonly msg?: string;
  readonly function?: string;
  readonly kind?: string;
  readonly namespace?: string;
  readonly name?: string;
  readonly err?: { readonly message?: string; readonly stack?: string };
}

/** One log record in the parts that a person reads. */
export interface Readable {
  /** Of the day, in UTC. */
  readonly time: string;
  /** `!` or `✗` where something is wrong. */
  readonly mark: string;
  readonly function: string;
  /** What happened, and to which object. */
  readonly message: string;
  /** Each as `key=value`. */
  readonly fields: readonly string[];
  readonly stack: string | undefined;
}

const marks: Readonly<Record<string, string>> = { warn: '!', error: '✗', fatal: '✗' };

export function readable(record: LogRecord): Readable {
  const { level, time, msg = '', function: name = '', err, kind, namespace, name: object, ...fields } = record;
  const subject = subjectOf({ kind, namespace, name: object });
  return {
    time: time.slice(11, 19),
    mark: marks[level] ?? ' ',
    function: name,
    message: subject === '' ? msg : `${msg} ${subject}`,
    fields: Object.entries(fields).map(([key, value]) => `${key}=${text(value)}`),
    stack: err?.stack ?? err?.message,
  };
}

interface Subject {
  readonly kind?: string | undefined;
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
}

/** `Deployment shop/web`, as much of it as there is. */
export function subjectOf({ kind, namespace, name }: Subject): string {
  const path = [namespace, name].filter((part) => part !== undefined).join('/');
  return [kind, path].filter((part) => part !== undefined && part !== '').join(' ');
}

/** Flat lists and objects without the punctuation of JSON; anything deeper as JSON. */
function text(value: unknown): string {
  if (Array.isArray(value)) {
    return value.every(isPlain) ? quoted(value.join(', ')) : JSON.stringify(value);
  }
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value as Readonly<Record<string, unknown>>);
    return entries.every(([, each]) => isPlain(each))
      ? quoted(entries.map(([key, each]) => `${key}: ${String(each)}`).join(', '))
      : JSON.stringify(value);
  }
  return quoted(String(value));
}

function isPlain(value: unknown): boolean {
  return typeof value !== 'object' || value === null;
}

/** So that the end of a value can be seen. */
function quoted(value: string): string {
  return value === '' || /[\s"=]/.test(value) ? JSON.stringify(value) : value;
}
