import { digest } from '../digest.ts';
import type { Injector } from '../mesh/webhooks.ts';
import type { Code } from './code.ts';
import { judgedPods, type Knowledge } from './judge.ts';
import type { Staffed } from './join.ts';

/** Verdicts of injectors that stay for as long as nothing changes, by what they depend on. */
export type Verified = ReadonlyMap<string, Code>;

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
 * proxies it has. For as long as all of these stay, so does the verdict, and no injector has to be asked again.
 */
export function verificationOf(
  staffed: Staffed,
  injectors: readonly Injector[],
  { state, configFingerprint, settings }: Knowledge,
): string {
  const { uid, generation, namespace, annotations, partition } = staffed.workload;
  const pods = [...judgedPods(staffed), ...(partition > 0 ? staffed.older : [])];
  const proxies = new Set(pods.map(({ proxy }) => JSON.stringify(proxy ?? null)));
  const places = injectors.map(({ configuration, position }) => [configuration, position]);
  const about = [uid, generation, annotations, places, [...proxies].sort()];
  return digest([about, configFingerprint, settings, state.namespaces[namespace]?.hash]).slice(0, 16);
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
