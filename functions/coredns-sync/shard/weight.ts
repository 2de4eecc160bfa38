import type { Claim } from '../claim.ts';
import type { RenderMode } from '../render/render.ts';

/**
 * About how many bytes a claim adds to its shard: what decides over how many shards the rules spread, without making texts
 * that nobody writes. Rather too many than too few: patterns have a domain that their hosts share once, here it counts for
 * each, so that shards hold three quarters of what they might. Both the full pass and an increment go by it, so that the one
 * never sends for the other in vain.
 */
export function weightOf({ host, match, source }: Claim, target: string, mode: RenderMode): number {
  const line = host.length + source.length + recordOverhead;
  // Dots are escaped in a pattern.
  const inPattern = host.length + dotsIn(host) + patternOverhead;
  if (mode === 'exact') {
    return line + (match === 'exact' ? host.length : inPattern + wildcardOverhead) + target.length + exactOverhead;
  }
  return line + (mode === 'grouped' ? 1 : 2) * inPattern; // other modes have a pattern for each of two types
}

/** `… e 0 0 t6pv9x …`, with some room for a priority. */
const recordOverhead = 20;
const exactOverhead = 'rewrite name exact  \n'.length;
const wildcardOverhead = 'regex ^[a-z0-9-][a-z0-9_-]*\\.\\.$ answer auto'.length;
/** What separates it from the next, and its share of what stands around a pattern of some 9,000 bytes. */
const patternOverhead = 2;

function dotsIn(host: string): number {
  let dots = 0;
  for (let at = host.indexOf('.'); at >= 0; at = host.indexOf('.', at + 1)) {
    dots += 1;
  }
  return dots;
}
