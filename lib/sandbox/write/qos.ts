import type { KubeObject } from '../../kube/model/wire.ts';
import { isRecord } from '../../base/json.ts';
import { type Json, listAt, objectAt } from '../schema/value.ts';

const counted = ['cpu', 'memory'] as const;

/** The quality of service class that a pod's requests and limits give it. */
export function qosClass(pod: KubeObject): 'Guaranteed' | 'Burstable' | 'BestEffort' {
  const containers = [...listAt(pod, 'spec', 'initContainers'), ...listAt(pod, 'spec', 'containers')].filter(isRecord);
  if (containers.every((container) => !asksForAnything(container))) {
    return 'BestEffort';
  }
  return containers.every(isLimitedToItsRequests) ? 'Guaranteed' : 'Burstable';
}

function asksForAnything(container: Json): boolean {
  const { limits, requests } = resourcesOf(container);
  return counted.some((name) => limits[name] !== undefined || requests[name] !== undefined);
}

/** A limit without a request is its request too. */
function isLimitedToItsRequests(container: Json): boolean {
  const { limits, requests } = resourcesOf(container);
  return counted.every((name) => limits[name] !== undefined && (requests[name] ?? limits[name]) === limits[name]);
}

function resourcesOf(container: Json): { limits: Json; requests: Json } {
  return { limits: objectAt(container, 'resources', 'limits'), requests: objectAt(container, 'resources', 'requests') };
}
