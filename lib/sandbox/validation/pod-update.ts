import { isRecord } from '../../base/json.ts';
import { at, isEqual, type Json, listAt, objectAt } from '../schema/value.ts';
import type { Report } from '../checks/report.ts';

const detail =
  'pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)';

/** A pod that runs can change its images, its deadline, and tolerate more; a pod that waits also its node selection. */
export function checkPodUpdate(report: Report, object: Json, old: Json): void {
  if (listAt(object, 'spec', 'containers').length !== listAt(old, 'spec', 'containers').length) {
    report.forbidden('spec.containers', 'pod updates may not add or remove containers');
    return;
  }
  const isGated = listAt(old, 'spec', 'schedulingGates').length > 0;
  if (!isEqual(fixedPart(object, isGated), fixedPart(old, isGated)) || !keepsTolerations(object, old)) {
    report.forbidden('spec', detail);
  }
}

function fixedPart(pod: Json, isGated: boolean): Json {
  const {
    containers: _containers,
    initContainers: _initContainers,
    activeDeadlineSeconds: _deadline,
    tolerations: _tolerations,
    schedulingGates: _gates,
    ...rest
  } = objectAt(pod, 'spec');
  const { nodeSelector: _selector, affinity: _affinity, ...ungated } = rest;
  return {
    ...(isGated ? ungated : rest),
    containers: listAt(pod, 'spec', 'containers').map(withoutImage),
    initContainers: listAt(pod, 'spec', 'initContainers').map(withoutImage),
  };
}

function withoutImage(container: unknown): unknown {
  if (!isRecord(container)) {
    return container;
  }
  const { image: _, ...rest } = container;
  return rest;
}

function keepsTolerations(object: Json, old: Json): boolean {
  const now = listAt(object, 'spec', 'tolerations');
  return listAt(old, 'spec', 'tolerations').every((toleration) => now.some((other) => isSame(other, toleration)));
}

function isSame(a: unknown, b: unknown): boolean {
  return ['key', 'operator', 'value', 'effect'].every((name) => at(a, name) === at(b, name));
}
