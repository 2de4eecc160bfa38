import type { V1NodeSelectorRequirement, V1NodeSelectorTerm, V1Taint, V1Toleration } from '@kubernetes/client-node';
import type { Node, Pod } from '../../kube/model/resource.ts';
import type { Wire } from '../../kube/model/wire.ts';

type Requirement = Wire<V1NodeSelectorRequirement>;
type Term = Wire<V1NodeSelectorTerm>;
type Taint = Wire<V1Taint>;
type Toleration = Wire<V1Toleration>;

/** The node for a pod: among those that it may run on, the one it prefers most, then the emptiest. */
export function chooseNode(
  pod: Pod,
  nodes: readonly Node[],
  podsOn: (node: string) => number,
): { readonly node?: string; readonly why: string } {
  const problems = new Map<string, number>();
  const fitting = nodes.filter((node) => {
    const problem = problemWith(pod, node);
    if (problem !== undefined) {
      problems.set(problem, (problems.get(problem) ?? 0) + 1);
    }
    return problem === undefined;
  });
  const [best] = fitting.toSorted(
    (a, b) => preference(pod, b) - preference(pod, a) || podsOn(nameOf(a)) - podsOn(nameOf(b)),
  );
  return best === undefined ? { why: unschedulable(nodes.length, problems) } : { node: nameOf(best), why: '' };
}

function unschedulable(total: number, problems: ReadonlyMap<string, number>): string {
  const reasons = [...problems].map(([problem, count]) => `${count} ${problem}`).sort();
  const list = total === 0 ? 'no nodes available to schedule pods' : `0/${total} nodes are available`;
  return reasons.length === 0 ? list : `${list}: ${reasons.join(', ')}.`;
}

/** Why a pod may not run on a node, in the scheduler's words. */
export function problemWith(pod: Pod, node: Node): string | undefined {
  const tolerations = pod.spec?.tolerations ?? [];
  const taint = taintsOf(node).find((each) => isHard(each) && !tolerations.some((one) => tolerates(one, each)));
  if (taint?.key === unschedulableTaint) {
    return 'node(s) were unschedulable';
  }
  if (taint !== undefined) {
    return `node(s) had untolerated taint(s)`;
  }
  return isSelected(pod, node) ? undefined : "node(s) didn't match Pod's node affinity/selector";
}

const unschedulableTaint = 'node.kubernetes.io/unschedulable';

function taintsOf({ spec }: Node): readonly Taint[] {
  const own = spec?.taints ?? [];
  const isMarked = own.some(({ key }) => key === unschedulableTaint);
  return spec?.unschedulable === true && !isMarked ? [...own, { key: unschedulableTaint, effect: 'NoSchedule' }] : own;
}

function isHard({ effect }: Taint): boolean {
  return effect === 'NoSchedule' || effect === 'NoExecute';
}

function tolerates(toleration: Toleration, taint: Taint): boolean {
  const { key = '', operator, value = '', effect = '' } = toleration;
  return (
    ['', taint.effect].includes(effect) &&
    ['', taint.key].includes(key) &&
    (operator === 'Exists' || value === (taint.value ?? ''))
  );
}

function isSelected({ spec }: Pod, node: Node): boolean {
  const labels = node.metadata?.labels ?? {};
  const selects = Object.entries(spec?.nodeSelector ?? {}).every(([name, value]) => labels[name] === value);
  const required = spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  return selects && (required === undefined || required.nodeSelectorTerms.some((term) => termMatches(term, node)));
}

function preference({ spec }: Pod, node: Node): number {
  const preferred = spec?.affinity?.nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
  return preferred.reduce((sum, { preference: term, weight }) => sum + (termMatches(term, node) ? weight : 0), 0);
}

/** A term without any condition selects nothing. */
function termMatches({ matchExpressions = [], matchFields = [] }: Term, node: Node): boolean {
  const { labels = {}, name = '' } = node.metadata ?? {};
  return (
    matchExpressions.length + matchFields.length > 0 &&
    matchExpressions.every((each) => requirementHolds(each, labels[each.key])) &&
    matchFields.every((each) => each.key === 'metadata.name' && requirementHolds(each, name))
  );
}

function requirementHolds({ operator, values = [] }: Requirement, value: string | undefined): boolean {
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value);
    case 'NotIn':
      return value === undefined || !values.includes(value);
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
    case 'Gt':
      return Number(value) > Number(values[0]);
    case 'Lt':
      return Number(value) < Number(values[0]);
    default:
      return false;
  }
}

function nameOf({ metadata }: Node): string {
  return metadata?.name ?? '';
}
