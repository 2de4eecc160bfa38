import type { Answer, Transport } from './transport.ts';

/** What the API server refused to an account that has no right to it. */
export interface MissingRight {
  readonly verb: string;
  /** With its group, as in `deployments.apps`. */
  readonly resource: string;
  /** Absent: in the whole cluster. */
  readonly namespace?: string;
}

/** The same transport; every call that was refused for want of a right is reported, whatever becomes of it. */
export function reportingMissingRights(transport: Transport, report: (missing: MissingRight) => void): Transport {
  return {
    ...transport,
    send: async (request) => {
      const answer = await transport.send(request);
      const missing = missingRight(answer);
      if (missing !== undefined) {
        report(missing);
      }
      return answer;
    },
  };
}

const refusal = / cannot ([a-z]+) resource "([^"]+)" in API group "([^"]*)"(?: in the namespace "([^"]+)")?/;

/** The API server says it in words alone. */
function missingRight({ status, body }: Pick<Answer, 'status' | 'body'>): MissingRight | undefined {
  const [, verb, plural, group = '', namespace] = (status === 403 ? refusal.exec(messageIn(body)) : undefined) ?? [];
  if (verb === undefined || plural === undefined) {
    return undefined;
  }
  const resource = group === '' ? plural : `${plural}.${group}`;
  return { verb, resource, ...(namespace === undefined ? {} : { namespace }) };
}

function messageIn(body: string): string {
  try {
    const { message } = JSON.parse(body) as { readonly message?: unknown };
    return typeof message === 'string' ? message : '';
  } catch {
    return '';
  }
}
