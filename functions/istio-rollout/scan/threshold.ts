import type { Injector } from '../mesh/webhooks.ts';
import type { State } from '../state/state.ts';

/**
 * Pods of a revision that were made at or after this time have what the injector gives now. Undefined where that cannot
 * be told: then only a probe can say.
 */
export function thresholdOf(
  { controlPlanes, meshConfigs, webhooks, namespaces }: State,
  { revision, tag, configuration }: Injector,
  { namespace, readDelayMs }: { readonly namespace: string; readonly readDelayMs: number },
): number | undefined {
  const planes = Object.values(controlPlanes).filter((plane) => plane.revision === revision);
  const known = namespaces[namespace];
  if (planes.length === 0 || planes.some(({ parseError }) => parseError !== undefined) || known === undefined) {
    return undefined;
  }
  const tagged = tag === undefined ? undefined : webhooks[configuration];
  const changes = [...planes, ...Object.values(meshConfigs), known, ...(tagged ? [tagged] : [])];
  return Math.max(...changes.map(({ changedAt }) => changedAt)) + readDelayMs;
}
