import type { Context } from '../../../lib/function/definition.ts';

/** An object of a shape that nobody foresaw: what it claimed before stays, and so does everything else. */
export interface Illegible {
  /** `Ingress/shop/web`. */
  readonly source: string;
  /** A bug of ours. What it says may quote the object. */
  readonly error: unknown;
}

/** Whoever may write one object must not be able to stop the work for all others. Its name is asked for only then. */
export function ifLegible<T>(source: () => string, read: () => T): T | Illegible {
  try {
    return read();
  } catch (error) {
    return { source: source(), error };
  }
}

interface Parts<T> {
  readonly legible: readonly T[];
  readonly illegible: readonly Illegible[];
}

export function partsOf<T extends object>(outcomes: readonly (T | Illegible)[]): Parts<T> {
  return {
    legible: outcomes.filter((outcome): outcome is T => !isIllegible(outcome)),
    illegible: outcomes.filter(isIllegible),
  };
}

function isIllegible(outcome: object): outcome is Illegible {
  return 'error' in outcome;
}

/** So many objects are named in a log line; the rest is counted. */
export const mostNamed = 10;

/** A bug must not pass unseen because others are served. */
export function logIllegible({ log }: Pick<Context, 'log'>, illegible: readonly Illegible[]): void {
  const [first] = illegible;
  if (first !== undefined) {
    const objects = illegible.slice(0, mostNamed).map(({ source }) => source);
    const fields = { err: first.error, failure: 'bug', objects, count: illegible.length };
    log.error(fields, 'of a shape that nobody foresaw: their hosts stay as they are');
  }
}
