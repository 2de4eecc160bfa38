const reasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection reset',
  EHOSTUNREACH: 'no route to the host',
  ENOTFOUND: 'no such host',
  EAI_AGAIN: 'its name could not be resolved',
  ETIMEDOUT: 'no answer in time',
  TimeoutError: 'no answer in time',
};

/** Why a request got no answer: `fetch` and the client hide it in causes. */
export function whyUnreachable(error: unknown): string {
  const errors = chainOf(error);
  const known = errors.map(({ name, code = name }) => reasons[code]).find((reason) => reason !== undefined);
  return known ?? errors.at(-1)?.message ?? String(error);
}

interface Link {
  readonly name: string;
  readonly message: string;
  readonly code?: string;
}

function chainOf(error: unknown): Link[] {
  return error instanceof Error ? [error, ...chainOf(error.cause)] : [];
}
