import type { Operation } from 'fast-json-patch';
import { pointer, unchanged, type Step } from '../../../lib/kube/model/plan.ts';
import { formatInstant } from '../../../lib/time/instant.ts';
import { bookkeeping } from '../names.ts';
import { resources } from '../scan/kinds.ts';
import type { Workload } from '../scan/workload.ts';
import type { InFlight } from '../state/state.ts';

export interface Restart {
  readonly annotation: string;
  readonly fieldManager: string;
  readonly run: string;
}

/** Makes the workload replace its pods, if it is still as it was when that was decided. */
export function restartStep(workload: Workload, intent: InFlight, { annotation, fieldManager, run }: Restart): Step {
  const { kind, namespace, name, resourceVersion } = workload;
  const why = `restart ${intent.attempt} for proxy ${intent.fingerprint.slice(0, 12)}`;
  if (intent.pod !== undefined) {
    return { do: 'evict', namespace, ...intent.pod, why };
  }
  const notes = {
    [bookkeeping.run]: run,
    [bookkeeping.fingerprint]: intent.fingerprint,
    [bookkeeping.attempts]: String(intent.attempt),
  };
  const operations = [
    unchanged({ metadata: { resourceVersion } }),
    ...annotate(['metadata'], workload.hasAnnotations, notes),
    ...trigger(workload, annotation, stampOf(intent)),
  ];
  return { do: 'patch', resource: resources[kind], namespace, name, operations, fieldManager, why };
}

/** The moment of the intent, as the annotation carries it: that is how a restart is known again. */
export function stampOf({ intentAt }: Pick<InFlight, 'intentAt'>): string {
  return formatInstant(intentAt);
}

/** What the workload carries of the last restart. */
export function lastStamp({ kind, restartAt, template }: Workload, annotation: string): string | undefined {
  return kind === 'Rollout' ? restartAt : template.annotations[annotation];
}

/** A Rollout recreates its pods in place, without a canary run; the others get a new template. */
function trigger({ kind, template, hasTemplateMetadata }: Workload, annotation: string, stamp: string): Operation[] {
  if (kind === 'Rollout') {
    return [{ op: 'add', path: pointer('spec', 'restartAt'), value: stamp }];
  }
  const place = ['spec', 'template', 'metadata'];
  if (!hasTemplateMetadata) {
    return [{ op: 'add', path: pointer(...place), value: { annotations: { [annotation]: stamp } } }];
  }
  return annotate(place, Object.keys(template.annotations).length > 0, { [annotation]: stamp });
}

function annotate(
  place: readonly string[],
  hasSome: boolean,
  annotations: Readonly<Record<string, string>>,
): Operation[] {
  if (!hasSome) {
    return [{ op: 'add', path: pointer(...place, 'annotations'), value: annotations }];
  }
  return Object.entries(annotations).map(([name, value]) => ({
    op: 'add',
    path: pointer(...place, 'annotations', name),
    value,
  }));
}
