/** What is wrong with a policy: refused when it is written, told in its status if it got in all the same. */
export interface Problem {
  readonly reason: 'InvalidSelector' | 'EvaluationFailed';
  /** Names the field, and what to write there. */
  readonly message: string;
}

/** The value, or `undefined` after telling why there is none. */
export function attempt<T>(read: () => T, tell: (cause: string) => void): T | undefined {
  try {
    return read();
  } catch (error) {
    tell((error as Error).message);
    return undefined;
  }
}
