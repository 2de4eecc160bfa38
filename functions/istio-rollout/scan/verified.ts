import { digestOf } from '../../../lib/base/digest.ts';
import type { Injector } from '../mesh/webhooks.ts';
import type { Pacing, Pending } from '../state/state.ts';
import type { Code } from './code.ts';
import { judgedPods, type Knowledge } from './judge.ts';
import type { Staffed } from './join.ts';

/** Verdicts of injectors that stay for as long as nothing changes that is looked at, by what they depend on. */
export type Verified = ReadonlyMap<string, Code>;

/** What injects may change where nobody looks, by a ProxyConfig or the environment of istiod. */
const lastsMs = 24 * 3_600_000;

/** Whether what injectors said is old enough to be asked for again. A scan of some namespaces does not ask for all. */
export function isOutlived({ lastAskedAllAt }: Pacing, { namespaces }: Pending, now: number): boolean {
  return namespaces === undefined && now >= (lastAskedAllAt ?? 0) + lastsMs;
}

/** What is to be done about other verdicts asks the injector again, and may change by itself. */
const lasting: ReadonlySet<Code> = new Set([
  'Current',
  'NotExpected',
  'ConfigInvalid',
  'OptedOut',
  'Paused',
  'OnDelete',
  'Partitioned',
  'Ineffective',
]);

/**
 * Names a workload as it was judged: its template, what people want for it, the configuration, who injects, and the
 * proxies it has. For as long as all of these stay, so does the verdict, and no injector has to be asked again that day.
 */
export function verificationOf(
  staffed: Staffed,
  injectors: readonly Injector[],
  { state, mesh, configFingerprint, settings }: Knowledge,
): string {
  const { uid, generation, namespace, annotations, partition } = staffed.workload;
  const pods = [...judgedPods(staffed), ...(partition > 0 ? staffed.older : [])];
  const proxies = new Set(pods.map(({ proxy }) => JSON.stringify(proxy ?? null)));
  const places = injectors.map(({ configuration, position }) => [configuration, position]);
  const about = [uid, generation, annotations, places, [...proxies].sort()];
  const surroundings = [configFingerprint, mesh.meshHash, settings, state.namespaces[namespace]?.hash];
  return digestOf([about, ...surroundings]).slice(0, 16);
}

/** As the state holds it: most are current, so that goes without saying. Undefined for a verdict that does not last. */
export function verifiedText(key: string, code: Code): string | undefined {
  if (!lasting.has(code)) {
    return undefined;
  }
  return code === 'Current' ? key : `${key}:${code}`;
}

export function keyOf(text: string): string {
  return text.split(':', 1)[0] ?? '';
}

export function verifiedFrom(texts: readonly string[]): Verified {
  return new Map(texts.map((text) => [keyOf(text), (text.split(':')[1] ?? 'Current') as Code]));
}
