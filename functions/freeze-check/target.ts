import { matches, soundRequirements, type LabelSelector, type Selector } from '../../lib/kube/model/selector.ts';
import type { GitOps, Target, TargetKind } from './policy.ts';
import { attempt, type Problem } from './problem.ts';

export type Labels = Readonly<Record<string, string>>;

/** What a policy is about. */
export interface Coverage {
  readonly kinds: readonly TargetKind[];
  readonly namespaces: Selector;
  readonly objects: Selector;
}

/** A workload, as far as selectors see it. */
export interface Covered {
  readonly kind: TargetKind;
  readonly namespaceLabels: Labels;
  readonly labels: Labels;
}

/** Reads the target of a policy. One whose selectors say nothing sound covers nothing. */
export function readTarget(target: Target, problems: Problem[]): Coverage {
  const namespaces = readSelector('spec.target.namespaceSelector', target.namespaceSelector, problems);
  const objects = readSelector('spec.target.objectSelector', target.objectSelector, problems);
  return namespaces === undefined || objects === undefined
    ? { kinds: [], namespaces: [], objects: [] }
    : { kinds: target.kinds, namespaces, objects };
}

/** An absent selector selects everything. */
function readSelector(field: string, selector: LabelSelector = {}, problems: Problem[]): Selector | undefined {
  return attempt(
    () => soundRequirements(selector),
    (cause) => problems.push({ reason: 'InvalidSelector', message: `${field}: ${cause}` }),
  );
}

/** Tells of selectors of GitOps objects that say nothing sound, and so select nothing. */
export function checkGitOps({ argocd = {}, flux = {} }: Pick<GitOps, 'argocd' | 'flux'>, problems: Problem[]): void {
  const { pauseMode: _mode, ...ofArgoCd } = argocd;
  for (const [provider, selectors] of Object.entries({ argocd: ofArgoCd, flux })) {
    for (const [name, selector] of Object.entries(selectors)) {
      readSelector(`spec.behavior.gitops.${provider}.${name}`, selector, problems);
    }
  }
}

export function covers(coverage: Coverage, { labels, ...place }: Covered): boolean {
  return coversPlace(coverage, place) && matches(coverage.objects, labels);
}

/** Whether it is about some workloads of this kind in such a namespace. */
export function coversPlace(
  { kinds, namespaces }: Coverage,
  { kind, namespaceLabels }: Omit<Covered, 'labels'>,
): boolean {
  return kinds.includes(kind) && matches(namespaces, namespaceLabels);
}
