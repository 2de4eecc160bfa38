import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from '../../../lib/sandbox/test/contract/client.ts';
import { uniqueName } from '../../../lib/sandbox/test/contract/scratch.ts';
import type { Cluster } from './cluster.ts';
import { waitFor } from './wait.ts';

/** One answered request as the API server wrote it down. */
export interface AuditEvent {
  readonly auditID: string;
  readonly stage: 'ResponseStarted' | 'ResponseComplete' | 'Panic';
  readonly verb: string;
  readonly requestURI: string;
  readonly user: { readonly username: string };
  readonly impersonatedUser?: { readonly username: string };
  readonly userAgent?: string;
  readonly objectRef?: {
    readonly resource?: string;
    readonly subresource?: string;
    readonly namespace?: string;
    readonly name?: string;
    readonly apiGroup?: string;
  };
  readonly responseStatus?: { readonly code?: number };
}

/** All requests so far that were answered, in order of their answers. A watch counts when it starts. */
export function readAudit({ site }: Cluster): AuditEvent[] {
  const seen = new Set<string>();
  return readFileSync(join(site.directory, 'audit.log'), 'utf8')
    .split('\n')
    .filter((line) => line.endsWith('}')) // the last line may be half written
    .map((line) => JSON.parse(line) as AuditEvent)
    .filter(({ auditID }) => !seen.has(auditID) && seen.add(auditID));
}

/** The same once a request made just now is in it, and so all that were answered before. */
export async function settledAudit(cluster: Cluster, client: Client): Promise<readonly AuditEvent[]> {
  const marker = uniqueName('marker');
  await client.call('GET', `/api/v1/namespaces/default/configmaps/${marker}`);
  return waitFor('the audit log', () => {
    const audit = readAudit(cluster);
    return audit.some(({ objectRef }) => objectRef?.name === marker) ? audit : undefined;
  });
}

/** How often a user did what: `{ 'list configmaps': 1, 'watch configmaps': 1 }`. */
export function callsOf(username: string, events: readonly AuditEvent[]): Record<string, number> {
  const calls: Record<string, number> = {};
  for (const { user, impersonatedUser, verb, objectRef } of events) {
    if ((impersonatedUser ?? user).username === username) {
      const { resource = '', subresource } = objectRef ?? {};
      const what = `${verb} ${resource}${subresource === undefined ? '' : `/${subresource}`}`.trimEnd();
      calls[what] = (calls[what] ?? 0) + 1;
    }
  }
  return calls;
}
