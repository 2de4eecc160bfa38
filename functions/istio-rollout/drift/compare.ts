import type { DriftCheck } from '../config.ts';
import { digestOf } from '../../../lib/base/digest.ts';
import { isSameImage } from './image.ts';
import type { Proxy } from './proxy.ts';

export interface Comparison {
  readonly checks: readonly DriftCheck[];
  readonly compareHub: boolean;
}

/** What would be different after a restart; the first difference says enough. */
export function driftOf(
  live: Proxy | undefined,
  expected: Proxy,
  { checks, compareHub }: Comparison,
): DriftCheck | undefined {
  if (live === undefined) {
    return checks.includes('missing') ? 'missing' : undefined;
  }
  return checks.find((check) => differs(check, live, expected, compareHub));
}

function differs(check: DriftCheck, live: Proxy, expected: Proxy, compareHub: boolean): boolean {
  switch (check) {
    case 'missing':
      return false;
    case 'image':
      return !isSameImage(live.image, expected.image, compareHub);
    case 'revision':
      return bothDiffer(live.revision, expected.revision);
    case 'initImage':
      return !areSameImages(live.initImages ?? {}, expected.initImages ?? {}, compareHub);
    case 'mode':
    case 'resources':
    case 'proxyConfig':
    case 'args':
      return live[check] !== expected[check];
  }
}

type Images = Readonly<Record<string, string>>;

function areSameImages(live: Images, expected: Images, compareHub: boolean): boolean {
  const names = new Set([...Object.keys(live), ...Object.keys(expected)]);
  return [...names].every((name) => {
    const [a, b] = [live[name], expected[name]];
    return a !== undefined && b !== undefined && isSameImage(a, b, compareHub);
  });
}

/** Injectors of old leave no revision behind: what is unknown is no drift. */
function bothDiffer(live: string | undefined, expected: string | undefined): boolean {
  return live !== undefined && expected !== undefined && live !== expected;
}

/** Names the expected proxy: the same for as long as a restart would bring the same. */
export function fingerprintOf(expected: Proxy | undefined, checks: readonly DriftCheck[]): string {
  if (expected === undefined) {
    return digestOf('no proxy');
  }
  const { revision, ...rest } = expected;
  return digestOf(checks.includes('revision') ? { ...rest, revision } : rest);
}
