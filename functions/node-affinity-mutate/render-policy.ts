import { requirements } from '../../lib/kube/model/selector.ts';
import type { KubeObject } from '../../lib/kube/model/wire.ts';
import { allOf, mapHas, podCondition, selectorCondition, text } from './cel.ts';
import { noMutation, preferMutation, tolerateMutations, type Mutation } from './cel-mutation.ts';
import type { Config } from './config.ts';
import { rulesInForce } from './knowledge.ts';
import { policyName, poolMark, skipMark } from './names.ts';
import { gateOf, namespaceSelectorOf, standardConditions } from './render-webhook.ts';
import { poolOf, type Rule } from './rule.ts';
import type { State } from './state.ts';

/** What makes the API server do by itself what the webhook would do. */
export interface Policy {
  readonly policy: KubeObject & { readonly spec: object };
  readonly binding: KubeObject & { readonly spec: object };
  /** Rules that only the webhook can follow. */
  readonly skipped: readonly string[];
}

/**
 * Which pools have nodes is written into the policy itself. A ConfigMap as its parameter would do too, but the API server
 * asks of the author of such a policy the right to read every ConfigMap of the cluster.
 */
export function renderPolicy(state: State, config: Config, namespace: string): Policy {
  const rules = rulesInForce(state, config);
  return {
    policy: { metadata: { name: policyName }, spec: policySpec(rules, state, { config, namespace }) },
    binding: { metadata: { name: policyName }, spec: { policyName } },
    skipped: rules
      .filter(({ mode }) => mode === 'required')
      .map(({ name }) => `rule ${name}: a policy cannot require nodes, so this is left to the webhook`),
  };
}

function policySpec(
  rules: readonly Rule[],
  state: State,
  { config, namespace }: { readonly config: Config; readonly namespace: string },
): object {
  const mutations = rules.flatMap((rule, index) => (rule.mode === 'required' ? [] : mutationsOf(rule, index)));
  return {
    failurePolicy: 'Ignore',
    reinvocationPolicy: 'IfNeeded',
    matchConstraints: {
      matchPolicy: 'Exact',
      namespaceSelector: namespaceSelectorOf(gateOf(state.rules, config), [...config.OMIT_NAMESPACES, namespace]),
      resourceRules: [
        { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'], scope: 'Namespaced' },
      ],
    },
    matchConditions: [...standardConditions(config), ...pinnedCondition(config)],
    variables: [
      { name: 'namespaceAgrees', expression: namespaceAgrees() },
      ...rules.map((rule, index) => ({ name: variableOf(index), expression: applies(rule, index, { rules, state }) })),
    ],
    mutations: mutations.length === 0 ? [noMutation] : mutations,
  };
}

function mutationsOf(rule: Rule, index: number): Mutation[] {
  const applies = `variables.${variableOf(index)}`;
  return [preferMutation(rule, applies), ...tolerateMutations(rule, applies)];
}

function variableOf(index: number): string {
  return `rule${index}`;
}

/** What the webhook learns from the state, the policy sees for itself; in match conditions there is no such object. */
function namespaceAgrees(): string {
  const annotations = 'namespaceObject.metadata.annotations';
  return allOf([
    `!(${mapHas(annotations, skipMark, 'true')})`,
    `!(has(${annotations}) && ${text(poolMark)} in ${annotations})`,
  ]);
}

function pinnedCondition({ SKIP_PINNED }: Config): { readonly name: string; readonly expression: string }[] {
  const affinity = 'object.spec.affinity.nodeAffinity';
  const required = `${affinity}.requiredDuringSchedulingIgnoredDuringExecution`;
  const guards = `has(object.spec.affinity) && has(${affinity}) && has(${required})`;
  const namesNode = 'has(t.matchFields) && t.matchFields.exists(f, f.key == "metadata.name" && f.operator == "In")';
  const expression = `!(${guards} && ${required}.nodeSelectorTerms.all(t, ${namesNode}))`;
  return SKIP_PINNED ? [{ name: 'not-pinned', expression }] : [];
}

/** Whether the rule is for this pod, its pool has nodes, and no rule before it has ended the list. */
function applies(
  rule: Rule,
  index: number,
  { rules, state }: { readonly rules: readonly Rule[]; readonly state: State },
): string {
  if (state.pools.get(poolOf(rule))?.active !== true) {
    return 'false';
  }
  const { namespaceSelector } = rule.match;
  return allOf([
    'variables.namespaceAgrees',
    podCondition(rule.match),
    ...(namespaceSelector === undefined
      ? []
      : [selectorCondition(requirements(namespaceSelector), 'namespaceObject.metadata.labels')]),
    ...rules.slice(0, index).flatMap(({ stop }, before) => (stop ? [`!variables.${variableOf(before)}`] : [])),
  ]);
}
