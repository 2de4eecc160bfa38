import type { Pod, StatefulSet } from '../../kube/model/resource.ts';
import { hasEnded, isReady, isTerminating } from './pod.ts';
import { ordinalOf, revisionOfPod } from './stateful-pod.ts';

export type StatefulStep =
  { readonly do: 'create'; readonly ordinal: number } | { readonly do: 'delete'; readonly pod: Pod };

export interface StatefulState {
  readonly set: StatefulSet;
  readonly pods: readonly Pod[];
  readonly updateRevision: string;
}

/** What to do next. In order means one pod at a time, and only while all before it are well. */
export function statefulPlan(state: StatefulState): readonly StatefulStep[] {
  const { set, pods } = state;
  const inOrder = set.spec?.podManagementPolicy !== 'Parallel';
  const { first, end } = range(set);
  const byOrdinal = new Map(pods.map((pod) => [ordinalOf(pod), pod]));
  const growing = growth(byOrdinal, first, end, inOrder);
  if (growing.steps.length > 0 || growing.waits) {
    return growing.steps;
  }
  const condemned = pods
    .filter((pod) => ordinalOf(pod) < first || ordinalOf(pod) >= end)
    .toSorted((a, b) => ordinalOf(b) - ordinalOf(a));
  if (condemned.length > 0) {
    return shrinking(condemned, inOrder);
  }
  return updating(state, byOrdinal);
}

function range({ spec }: StatefulSet): { readonly first: number; readonly end: number } {
  const first = spec?.ordinals?.start ?? 0;
  return { first, end: first + (spec?.replicas ?? 1) };
}

function growth(
  byOrdinal: ReadonlyMap<number, Pod>,
  first: number,
  end: number,
  inOrder: boolean,
): { readonly steps: readonly StatefulStep[]; readonly waits: boolean } {
  const steps: StatefulStep[] = [];
  for (let ordinal = first; ordinal < end; ordinal += 1) {
    const pod = byOrdinal.get(ordinal);
    const step = stepFor(ordinal, pod);
    steps.push(...(step === undefined ? [] : [step]));
    const isWell = pod !== undefined && isReady(pod) && !isTerminating(pod);
    if (inOrder && !isWell) {
      return { steps, waits: true };
    }
  }
  return { steps, waits: false };
}

function stepFor(ordinal: number, pod: Pod | undefined): StatefulStep | undefined {
  if (pod === undefined) {
    return { do: 'create', ordinal };
  }
  return hasEnded(pod) && !isTerminating(pod) ? { do: 'delete', pod } : undefined;
}

/** The highest ordinal goes first; in order, the next one when it is gone. */
function shrinking(condemned: readonly Pod[], inOrder: boolean): readonly StatefulStep[] {
  const candidates = inOrder ? condemned.slice(0, 1) : condemned;
  return candidates.filter((pod) => !isTerminating(pod)).map((pod) => ({ do: 'delete', pod }));
}

/** From the highest ordinal down to the partition, the next pod is replaced when those above it are well. */
function updating(
  { set, updateRevision }: StatefulState,
  byOrdinal: ReadonlyMap<number, Pod>,
): readonly StatefulStep[] {
  if (set.spec?.updateStrategy?.type === 'OnDelete') {
    return [];
  }
  const { first, end } = range(set);
  for (let ordinal = end - 1; ordinal >= Math.max(first, partitionOf(set)); ordinal -= 1) {
    const pod = byOrdinal.get(ordinal);
    if (pod === undefined || !isUpdated(pod, updateRevision)) {
      return pod === undefined || isTerminating(pod) || revisionOfPod(pod) === updateRevision
        ? []
        : [{ do: 'delete', pod }];
    }
  }
  return [];
}

function isUpdated(pod: Pod, revision: string): boolean {
  return revisionOfPod(pod) === revision && isReady(pod) && !isTerminating(pod);
}

function partitionOf({ spec }: StatefulSet): number {
  return spec?.updateStrategy?.rollingUpdate?.partition ?? 0;
}

/** Which revision a new pod of an ordinal gets: below the partition everything stays as it was. */
export function usesCurrentRevision(set: StatefulSet, ordinal: number): boolean {
  return ordinal < partitionOf(set);
}
