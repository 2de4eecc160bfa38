import type { Body, Reply } from '../../../../lib/sandbox/test/contract/client.ts';

/** What the API server answered, or an error that says what it had against the question. */
export function accepted(what: string, { code, body }: Reply): Body {
  if (code >= 300) {
    throw new Error(`${what}: ${code} ${body.message ?? ''}`);
  }
  return body;
}
