import { digest } from '../../../lib/base/digest.ts';
import type { Claim } from '../claim.ts';
import { compareText } from '../../../lib/base/order.ts';
import { hostKey } from '../rule.ts';

/** What is remembered of an object: which hosts it claims, and a digest that tells whether anything that matters changed. */
export interface SourceRecord {
  /** `Ingress/shop/web`. */
  readonly source: string;
  readonly digest: string;
  /**
   * Keys of the claimed hosts, sorted, with commas between them: a full pass holds the records of all objects and needs the
   * hosts of none. Undefined of an object with so many that a change of it costs a full pass.
   */
  readonly hosts: string | undefined;
}

export type SourceRecords = ReadonlyMap<string, SourceRecord>;

const digestLength = 12;
/** Bytes of hosts that a record may hold: no single object may fill a part of the index, which is one ConfigMap. */
const mostHostBytes = 8192;
/** In place of hosts that are too many. */
const tooMany = '?';

/** `detail` is whatever else of the object decides: its uid, what was refused of it. */
export function recordOf(source: string, claims: readonly Claim[], detail: unknown): SourceRecord {
  const facts = claims.map(({ priority, mapping, created, ...claim }) => [hostKey(claim), priority, mapping, created]);
  const recordDigest = digest(JSON.stringify([facts, detail]), digestLength);
  const hosts = [...new Set(claims.map(hostKey))].sort(compareText).join();
  return { source, digest: recordDigest, hosts: hosts.length > mostHostBytes ? undefined : hosts };
}

const line = /^([A-Za-z]+\/[a-z0-9-]*\/[a-z0-9.-]+) ([0-9a-f]{12}) ([a-z0-9.*,-]*|\?)$/;

export function formatRecords(records: Iterable<SourceRecord>): string {
  return [...records]
    .map(({ source, digest, hosts }) => `${source} ${digest} ${hosts ?? tooMany}\n`)
    .sort(compareText)
    .join('');
}

/** How many bytes that is, without making the text: all of them are measured whenever any changed. */
export function bytesOfRecords(records: Iterable<SourceRecord>): number {
  let bytes = 0;
  for (const { source, hosts } of records) {
    bytes += source.length + digestLength + (hosts ?? tooMany).length + 3;
  }
  return bytes;
}

/** Undefined when a line is not what `formatRecords` writes. */
export function parseRecords(text: string): SourceRecords | undefined {
  const records = new Map<string, SourceRecord>();
  for (const each of text.split('\n').slice(0, -1)) {
    const [, source, digest, hosts = ''] = line.exec(each) ?? [];
    if (source === undefined || digest === undefined) {
      return undefined;
    }
    records.set(source, { source, digest, hosts: hosts === tooMany ? undefined : hosts });
  }
  return records;
}

/** Keys of the hosts that are known to be claimed. */
export function hostsIn({ hosts = '' }: SourceRecord): readonly string[] {
  return hosts === '' ? [] : hosts.split(',');
}
