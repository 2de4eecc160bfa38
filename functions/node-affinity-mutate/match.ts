import { matches, requirements, type Selector } from '../../lib/kube/model/selector.ts';
import type { Match } from './rule.ts';
import { isRecord, recordOf, type Fields } from '../../lib/base/json.ts';
import { listOf } from './shape.ts';

/** What is known of a namespace: of its labels only those that somebody asks for. */
export interface NamespaceFacts {
  readonly labels: Readonly<Record<string, string>>;
  /** It asks to be left alone. */
  readonly skip?: boolean;
  /** A label selector of nodes that its pods prefer, in place of what the rules say. */
  readonly pool?: string;
}

/** A pod and where it is about to be created. */
export interface Candidate {
  readonly namespace: string;
  /** Absent while nobody has told us about the namespace. */
  readonly facts: NamespaceFacts | undefined;
  readonly metadata: Fields;
}

/** The first condition of a rule that does not hold. */
export type Mismatch = 'namespace' | 'namespace-labels' | 'pod-labels' | 'excluded-label' | 'owner-kind';

export type Matcher = (candidate: Candidate) => Mismatch | undefined;

/**
 * Prepares the conditions of a rule once, since they are asked for every pod. Of a namespace that nobody knows yet the
 * API server has checked the labels in `gate`, so a rule that asks for the same is believed.
 */
export function createMatcher(match: Match, gate: string): Matcher {
  const checks = [
    ...(match.namespaces === undefined ? [] : [namespaceNames(match.namespaces)]),
    ...(match.namespaceSelector === undefined ? [] : [namespaceLabels(requirements(match.namespaceSelector), gate)]),
    ...(match.podSelector === undefined ? [] : [podLabels(requirements(match.podSelector))]),
    ...(match.excludePodLabels === undefined ? [] : [excludedLabels(Object.entries(match.excludePodLabels))]),
    ...(match.ownerKinds === undefined ? [] : [ownerKinds(new Set(match.ownerKinds))]),
  ];
  return (candidate) => {
    for (const check of checks) {
      const mismatch = check(candidate);
      if (mismatch !== undefined) {
        return mismatch;
      }
    }
    return undefined;
  };
}

function namespaceNames(globs: readonly string[]): Matcher {
  const pattern = new RegExp(globPattern(globs));
  return ({ namespace }) => (pattern.test(namespace) ? undefined : 'namespace');
}

/** One regular expression for all; CEL reads it too. */
export function globPattern(globs: readonly string[]): string {
  return `^(${globs.map((glob) => glob.replaceAll('*', '.*')).join('|')})$`;
}

function namespaceLabels(selector: Selector, gate: string): Matcher {
  const believed = isBelieved(selector, gate);
  return ({ facts }) => {
    const holds = facts === undefined ? believed : matches(selector, facts.labels);
    return holds ? undefined : 'namespace-labels';
  };
}

/** Whether a namespace that nobody knows is taken to match: the API server asks about no other. */
export function isBelieved(selector: Selector, gate: string): boolean {
  return selector.length === 0 || canonical(selector) === gate;
}

/** Equal for selectors that ask for the same in another order. */
export function canonical(selector: Selector): string {
  return selector
    .map(({ key, operator, values }) => `${key} ${operator} ${values.toSorted().join(',')}`)
    .toSorted()
    .join(';');
}

function podLabels(selector: Selector): Matcher {
  return ({ metadata }) => (matches(selector, labelsOf(metadata)) ? undefined : 'pod-labels');
}

function excludedLabels(excluded: readonly (readonly [string, string])[]): Matcher {
  return ({ metadata }) => {
    const labels = labelsOf(metadata);
    return excluded.some(([key, value]) => labels[key] === value) ? 'excluded-label' : undefined;
  };
}

function labelsOf(metadata: Fields): Readonly<Record<string, string>> {
  return (recordOf(metadata['labels']) ?? {}) as Readonly<Record<string, string>>;
}

function ownerKinds(kinds: ReadonlySet<string>): Matcher {
  return ({ metadata }) => (controllerIs(metadata, (kind) => kinds.has(kind)) ? undefined : 'owner-kind');
}

/** Whether the controller of an object is of a kind that the caller looks for. */
export function controllerIs(metadata: Fields, wanted: (kind: string) => boolean): boolean {
  for (const owner of listOf(metadata['ownerReferences']) ?? []) {
    if (isRecord(owner) && owner['controller'] === true && typeof owner['kind'] === 'string' && wanted(owner['kind'])) {
      return true;
    }
  }
  return false;
}
