import { decidePod } from './decide.ts';
import type { Knowledge } from './knowledge.ts';
import { isRecord, recordOf, type Fields } from '../../lib/base/json.ts';
import { listOf } from './shape.ts';
import type { Coverage } from './state.ts';

/** Workloads that are named in the report; the count is of all. */
const mostWorkloads = 50;

/**
 * The workload of a running pod that should have been changed when it was created and was not, because nobody answered
 * at that moment or because it is older than the rule; `undefined` for a pod that is as it should be.
 */
export function uncoveredWorkload(pod: Fields, knowledge: Knowledge): string | undefined {
  const metadata = recordOf(pod['metadata']) ?? {};
  const { namespace } = metadata;
  if (typeof namespace !== 'string' || isOver(pod, metadata)) {
    return undefined;
  }
  const unscheduled = { ...pod, spec: { ...recordOf(pod['spec']), nodeName: '' } };
  return decidePod(unscheduled, namespace, knowledge).reason === 'mutated'
    ? `${namespace}/${controllerOf(metadata)}`
    : undefined;
}

function isOver(pod: Fields, { deletionTimestamp }: Fields): boolean {
  const phase = recordOf(pod['status'])?.['phase'];
  return deletionTimestamp !== undefined || phase === 'Succeeded' || phase === 'Failed';
}

function controllerOf(metadata: Fields): string {
  const owner = (listOf(metadata['ownerReferences']) ?? [])
    .filter(isRecord)
    .find(({ controller }) => controller === true);
  return owner === undefined ? `Pod/${String(metadata['name'])}` : `${String(owner['kind'])}/${String(owner['name'])}`;
}

/** One entry for each pod that was missed. */
export function coverageOf(missed: readonly string[]): Coverage {
  const counts = [...Map.groupBy(missed, (workload) => workload)].map(([workload, { length }]) => ({
    workload,
    length,
  }));
  counts.sort((one, other) => other.length - one.length || (one.workload < other.workload ? -1 : 1));
  return {
    uncovered: missed.length,
    workloads: Object.fromEntries(counts.slice(0, mostWorkloads).map(({ workload, length }) => [workload, length])),
  };
}
