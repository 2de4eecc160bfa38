import { parseConfig } from '../../../lib/function/config.ts';
import { Config } from '../config.ts';
import { decide, type Asked, type Decision } from '../decide.ts';
import { know, type Knowledge } from '../knowledge.ts';
import { requiredField } from '../placement.ts';
import { poolOf, readRules, type Rule } from '../rule.ts';
import { emptyState, type State } from '../state.ts';
import { applyAdditions } from './lossless.ts';

export const poolKey = 'worker.gardener.cloud/pool';
export const pool = 'cpu-worker-0';
export const managedLabels = { 'operator.kyma-project.io/managed-by': 'kyma' };

/** Where its patches go. */
export const nodeAffinity = '/spec/affinity/nodeAffinity';
export const labelTerm = { matchExpressions: [{ key: 'zone', operator: 'In', values: ['a'] }] };
export const nameTerm = { matchFields: [{ key: 'metadata.name', operator: 'In', values: ['n1'] }] };

/** The term that the settings stand for. */
export const ourTerm = preference(10, { key: poolKey, operator: 'In', values: [pool] });

export function preference(weight: number, ...matchExpressions: readonly object[]): object {
  return { weight, preference: { matchExpressions } };
}

/** A pod's spec that asks for nodes. */
export function requiring(...nodeSelectorTerms: readonly object[]): object {
  return { affinity: { nodeAffinity: { [requiredField]: { nodeSelectorTerms } } } };
}

export function settings(environment: Readonly<Record<string, string>> = {}): Config {
  return parseConfig(Config, { POOL_NAME: pool, ...environment });
}

/** Rules as an operator writes them. */
export function rulesFrom(document: unknown): readonly Rule[] {
  const read = readRules(document);
  if ('problems' in read) {
    throw new Error(read.problems.join(', '));
  }
  return read.rules;
}

/** What the function knows when its pools have nodes and nothing was said about namespaces. */
export function knowing({
  environment = {},
  rules,
  absent = [],
  ...state
}: Partial<State> & {
  readonly environment?: Readonly<Record<string, string>>;
  /** Pools without nodes. */
  readonly absent?: readonly string[];
} = {}): Knowledge {
  const config = settings(environment);
  const pools = [`${poolKey}=${pool}`, ...(rules ?? []).map(poolOf)].map(
    (name) => [name, { active: !absent.includes(name), seen: true, since: '2026-01-01T00:00:00.000Z' }] as const,
  );
  const known = {
    ...emptyState,
    hash: 'abc',
    pools: new Map(pools),
    ...(rules === undefined ? {} : { rules }),
    ...state,
  };
  return know(known, config, { namespace: 'kube-reflex' });
}

/** A pod as small as the API server takes it. */
export function podWith(spec: object = {}, metadata: object = {}): object {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'web', ...metadata },
    spec: { containers: [{ name: 'main', image: 'nginx' }], ...spec },
  };
}

export function creating(object: unknown, changes: Asked = {}): Asked {
  return {
    uid: 'u-1',
    kind: { group: '', version: 'v1', kind: 'Pod' },
    resource: { group: '', version: 'v1', resource: 'pods' },
    operation: 'CREATE',
    namespace: 'shop',
    object,
    ...changes,
  };
}

export interface Outcome extends Decision {
  /** The pod after the patch. */
  readonly pod: { readonly metadata: Pod['metadata']; readonly spec: Pod['spec'] };
  readonly paths: readonly string[];
}

interface Pod {
  readonly metadata: { readonly annotations?: Readonly<Record<string, string>> };
  readonly spec: {
    readonly affinity?: { readonly nodeAffinity?: Readonly<Record<string, unknown>> };
    readonly tolerations?: readonly object[];
  };
}

/** Decides and applies the patch, which must leave every byte alone that it does not add. */
export function outcomeOf(object: object, knowledge: Knowledge = knowing(), changes: Asked = {}): Outcome {
  const text = JSON.stringify(object);
  const decision = decide(creating(JSON.parse(text), changes), knowledge);
  const { after, untouched, replaced } = applyAdditions(text, decision.patch);
  if (untouched !== text || replaced.some((gone) => gone !== 'null' && gone !== '[]')) {
    throw new Error(`the patch changed what was there: ${text} became ${after}`);
  }
  return { ...decision, pod: JSON.parse(after) as Pod, paths: decision.patch.map(({ path }) => path) };
}
