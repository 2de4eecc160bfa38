import type { ConfigMap } from '../../lib/kube/resource.ts';
import { requirements } from '../../lib/kube/selector.ts';
import type { KubeObject } from '../../lib/kube/wire.ts';
import { allOf, mapHas, podCondition, selectorCondition, text } from './cel.ts';
import { preferMutation, tolerateMutations } from './cel-mutation.ts';
import type { Config } from './config.ts';
import { rulesInForce } from './knowledge.ts';
import { policyConfigMap, policyName, poolMark, skipMark } from './names.ts';
import { gateOf, namespaceSelectorOf, standardConditions } from './render-webhook.ts';
import { poolOf, type Rule } from './rule.ts';
import type { State } from './state.ts';

/** What makes the API server do by itself what the webhook would do. */
export interface Policy {
  readonly policy: KubeObject & { readonly spec: object };
  readonly binding: KubeObject & { readonly spec: object };
  /** Names the rules whose pool has nodes. */
  readonly param: ConfigMap;
  /** Rules that only the webhook can follow. */
  readonly skipped: readonly string[];
}

export function renderPolicy(state: State, config: Config, namespace: string): Policy {
  const rules = rulesInForce(state, config);
  return {
    policy: { metadata: { name: policyName }, spec: policySpec(rules, state, { config, namespace }) },
    binding: {
      metadata: { name: policyName },
      spec: {
        policyName,
        paramRef: { name: policyConfigMap, namespace, parameterNotFoundAction: 'Allow' },
      },
    },
    param: { metadata: { name: policyConfigMap, namespace }, data: activeRules(rules, state) },
    skipped: rules
      .filter(({ mode }) => mode === 'required')
      .map(({ name }) => `rule ${name}: a policy cannot require nodes, so this is left to the webhook`),
  };
}

function activeRules(rules: readonly Rule[], { pools }: State): Record<string, string> {
  const active = rules.filter((rule) => pools.get(poolOf(rule))?.active === true);
  return Object.fromEntries(active.map((rule) => [rule.name, 'active']));
}

function policySpec(
  rules: readonly Rule[],
  state: State,
  { config, namespace }: { readonly config: Config; readonly namespace: string },
): object {
  return {
    paramKind: { apiVersion: 'v1', kind: 'ConfigMap' },
    failurePolicy: 'Ignore',
    reinvocationPolicy: 'IfNeeded',
    matchConstraints: {
      matchPolicy: 'Exact',
      namespaceSelector: namespaceSelectorOf(gateOf(state.rules, config), [...config.OMIT_NAMESPACES, namespace]),
      resourceRules: [
        { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'], scope: 'Namespaced' },
      ],
    },
    matchConditions: [...standardConditions(config), ...namespaceConditions(), ...pinnedCondition(config)],
    variables: rules.map((rule, index) => ({ name: variableOf(index), expression: applies(rule, index, rules) })),
    mutations: rules.flatMap((rule, index) =>
      rule.mode === 'required'
        ? []
        : [
            preferMutation(rule, `variables.${variableOf(index)}`),
            ...tolerateMutations(rule, `variables.${variableOf(index)}`),
          ],
    ),
  };
}

function variableOf(index: number): string {
  return `rule${index}`;
}

/** What the webhook learns from the state, the policy sees for itself. */
function namespaceConditions(): { readonly name: string; readonly expression: string }[] {
  const annotations = 'namespaceObject.metadata.annotations';
  return [
    { name: 'namespace-not-opted-out', expression: `!(${mapHas(annotations, skipMark, 'true')})` },
    { name: 'namespace-names-no-pool', expression: `!(has(${annotations}) && ${text(poolMark)} in ${annotations})` },
  ];
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
function applies(rule: Rule, index: number, rules: readonly Rule[]): string {
  const { namespaceSelector } = rule.match;
  const ended = rules.slice(0, index).flatMap(({ stop }, before) => (stop ? [`!variables.${variableOf(before)}`] : []));
  return allOf([
    `has(params.data) && ${text(rule.name)} in params.data`,
    podCondition(rule.match),
    ...(namespaceSelector === undefined
      ? []
      : [selectorCondition(requirements(namespaceSelector), 'namespaceObject.metadata.labels')]),
    ...ended,
  ]);
}
