import { requirements, type Requirement, type Selector } from '../../lib/kube/model/selector.ts';
import { globPattern } from './match.ts';
import type { Match } from './rule.ts';

/*
 * The conditions of rules in the language of the API server. Every optional field is guarded with has(): under the failure
 * policy Ignore an expression that cannot be evaluated silently passes a pod by.
 */

/** A string literal. What goes in was checked before; the quoting is for the rest. */
export function text(value: string): string {
  return JSON.stringify(value);
}

export function texts(values: readonly string[]): string {
  return `[${values.map(text).join(', ')}]`;
}

export function allOf(conditions: readonly string[]): string {
  return conditions.length === 0 ? 'true' : conditions.map(inParentheses).join(' && ');
}

export function anyOf(conditions: readonly string[]): string {
  return conditions.length === 0 ? 'false' : conditions.map(inParentheses).join(' || ');
}

function inParentheses(condition: string, _index: number, { length }: readonly string[]): string {
  return length === 1 ? condition : `(${condition})`;
}

/** Whether a map of strings, which may be absent, has this value. */
export function mapHas(map: string, key: string, value: string): string {
  return `has(${map}) && ${text(key)} in ${map} && ${map}[${text(key)}] == ${text(value)}`;
}

export function selectorCondition(selector: Selector, map: string): string {
  return allOf(selector.map((requirement) => requirementCondition(requirement, map)));
}

function requirementCondition({ key, operator, values }: Requirement, map: string): string {
  const exists = `has(${map}) && ${text(key)} in ${map}`;
  const isIn = `${exists} && ${map}[${text(key)}] in ${texts(values)}`;
  switch (operator) {
    case 'in':
      return isIn;
    case 'notin':
      return `!(${isIn})`;
    case 'exists':
      return exists;
    case '!':
      return `!(${exists})`;
    case 'gt':
    case 'lt':
      throw new Error(`labels of a pod or namespace are not compared by ${operator}`);
  }
}

/** What of a rule can be told from the request alone. */
export function podCondition({ namespaces, podSelector, excludePodLabels = {}, ownerKinds }: Match): string {
  const labels = 'object.metadata.labels';
  return allOf([
    ...(namespaces === undefined ? [] : [`request.namespace.matches(${text(globPattern(namespaces))})`]),
    ...(podSelector === undefined ? [] : [selectorCondition(requirements(podSelector), labels)]),
    ...Object.entries(excludePodLabels).map(([key, value]) => `!(${mapHas(labels, key, value)})`),
    ...(ownerKinds === undefined ? [] : [controllerIn(ownerKinds)]),
  ]);
}

/** Whether the controller of the object is of one of these kinds. */
export function controllerIn(kinds: readonly string[]): string {
  const owners = 'object.metadata.ownerReferences';
  return `has(${owners}) && ${owners}.exists(o, has(o.controller) && o.controller && o.kind in ${texts(kinds)})`;
}
