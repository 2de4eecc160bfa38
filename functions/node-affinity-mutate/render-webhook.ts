import type { MatchCondition } from '../../lib/function/admission.ts';
import { parseSelector, requirements, type LabelSelector, type Selector } from '../../lib/kube/model/selector.ts';
import { anyOf, controllerIn, mapHas, podCondition, text, texts } from './cel.ts';
import type { Config } from './config.ts';
import { canonical } from './match.ts';
import { mirrorAnnotation, skipMark } from './names.ts';
import type { Rule } from './rule.ts';

/** The rules of the ConfigMap, where there is one. */
type OwnRules = readonly Rule[] | undefined;

/**
 * The labels that a namespace must have for the API server to ask at all. The shipped configuration asks for those of the
 * settings; only where the function may keep it right do the rules take their place.
 */
export function gateOf(rules: OwnRules, { MANAGE_WEBHOOK, MANAGED_LABEL }: Config): Selector {
  return rules === undefined || MANAGE_WEBHOOK === 'caBundle' ? parseSelector(MANAGED_LABEL) : sharedSelector(rules);
}

/** What all rules ask of a namespace; nothing where they differ, as one selector cannot say "this or that". */
function sharedSelector(rules: readonly Rule[]): Selector {
  const selectors = rules.map(({ match }) => requirements(match.namespaceSelector ?? {}));
  const [first = []] = selectors;
  return selectors.every((selector) => canonical(selector) === canonical(first)) ? first : [];
}

/** The gate without the namespaces that are never looked at. */
export function namespaceSelectorOf(gate: Selector, omitted: readonly string[]): LabelSelector {
  return {
    matchExpressions: [
      ...gate.map(({ key, operator, values }) => ({
        key,
        operator: operatorName(operator),
        ...(values.length === 0 ? {} : { values: [...values] }),
      })),
      { key: 'kubernetes.io/metadata.name', operator: 'NotIn', values: [...new Set(omitted)] },
    ],
  };
}

function operatorName(operator: Selector[number]['operator']): string {
  switch (operator) {
    case 'in':
      return 'In';
    case 'notin':
      return 'NotIn';
    case 'exists':
      return 'Exists';
    case '!':
      return 'DoesNotExist';
    case 'gt':
    case 'lt':
      throw new Error(`labels of a namespace are not compared by ${operator}`);
  }
}

/** What the API server can see for itself, so that a pod which nothing will happen to is not sent at all. */
export function standardConditions({ SKIP_PINNED }: Config): MatchCondition[] {
  const { annotations, labels } = { annotations: 'object.metadata.annotations', labels: 'object.metadata.labels' };
  return [
    { name: 'not-scheduled', expression: '!has(object.spec.nodeName) || object.spec.nodeName == ""' },
    { name: 'not-mirror', expression: `!(has(${annotations}) && ${text(mirrorAnnotation)} in ${annotations})` },
    ...(SKIP_PINNED ? [{ name: 'not-daemonset', expression: `!(${controllerIn(['DaemonSet'])})` }] : []),
    {
      name: 'not-opted-out',
      expression: `!(${mapHas(labels, skipMark, 'true')}) && !(${mapHas(annotations, skipMark, 'true')})`,
    },
  ];
}

/** The same for the rules of the ConfigMap; a namespace that names its own pool is asked about whatever they say. */
export function matchConditions(rules: OwnRules, config: Config, namingPools: readonly string[]): MatchCondition[] {
  const standard = standardConditions(config);
  if (rules === undefined || config.MANAGE_WEBHOOK === 'caBundle') {
    return standard;
  }
  const own = namingPools.length === 0 ? [] : [`request.namespace in ${texts(namingPools)}`];
  const expression = anyOf([...own, ...rules.map(({ match }) => podCondition(match))]);
  return expression.length > longestExpression ? standard : [...standard, { name: 'some-rule', expression }];
}

/** The API server refuses expressions that cost too much; long before that, asking us is cheaper. */
const longestExpression = 10_000;
