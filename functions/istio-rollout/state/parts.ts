import { parsePart, renderPart } from './codec.ts';
import type { Candidate } from './state.ts';

/** As much as the API server takes, with room for the name. */
const mostBytes = 1000 * 1024;

/**
 * What a further ConfigMap holds until the state is written that goes with it: all that it will hold, and what it holds
 * now, since only the state says where that has gone. Who dies in between has lost nothing. What is more than fits
 * leaves by a scan, and that is due as long as the state has not said that it was made.
 */
export function overlap(before: string, after: string): string {
  const known = parsePart(before);
  const wanted = parsePart(after);
  const texts = new Set(known.map((item) => JSON.stringify(item)));
  if (wanted.every((item) => texts.has(JSON.stringify(item)))) {
    return before;
  }
  const uids = new Set(wanted.map(({ uid }) => uid));
  return renderPart(fitting([...wanted, ...known.filter(({ uid }) => !uids.has(uid))]));
}

function fitting(items: readonly Candidate[]): readonly Candidate[] {
  let room = mostBytes;
  return items.filter((item) => (room -= Buffer.byteLength(JSON.stringify(item)) + ','.length) >= 0);
}
