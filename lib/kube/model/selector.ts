import type { V1LabelSelector } from '@kubernetes/client-node';
import type { Wire } from './wire.ts';

export type LabelSelector = Wire<V1LabelSelector>;
type Labels = Readonly<Record<string, string>>;

/** One condition on labels. An absent key satisfies only `notin` and `!`. */
export interface Requirement {
  readonly key: string;
  readonly operator: 'in' | 'notin' | 'exists' | '!' | 'gt' | 'lt';
  readonly values: readonly string[];
}

/** All requirements must hold; an empty selector matches everything. */
export type Selector = readonly Requirement[];

/** A label key that the API server accepts. */
export const qualifiedName =
  /^((?=[^/]{1,253}\/)[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*\/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;
export const labelValue = /^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$/;
const setOperation = /^(\S+)\s+(in|notin)\s*\(([^()]*)\)$/;
const comparison = /^([^\s=!<>]+)\s*(==|=|!=|<|>)\s*([^\s=!<>]*)$/;

/** Parses `a=b,c in (d,e),!f` as the API server does. Throws an error that names the wrong part. */
export function parseSelector(text: string): Selector {
  return splitOutsideParentheses(text).map((part) => {
    const requirement = parseRequirement(part.trim());
    if (!isSound(requirement)) {
      throw new Error(`unable to parse requirement: "${part.trim()}"`);
    }
    return requirement;
  });
}

export function matches(selector: Selector, labels: Labels | undefined): boolean {
  return selector.every((requirement) => holds(requirement, valueOf(labels, requirement.key)));
}

/** Own properties only: a selector may use the key `constructor`. */
function valueOf(labels: Labels | undefined, key: string): string | undefined {
  return labels !== undefined && Object.hasOwn(labels, key) ? labels[key] : undefined;
}

/** Matches a selector as objects contain it. An absent selector matches nothing, an empty one everything. */
export function matchesLabelSelector(selector: LabelSelector | undefined, labels: Labels | undefined): boolean {
  return selector !== undefined && matches(requirements(selector), labels);
}

/** Converts a selector of an object into a list of conditions. */
export function requirements({ matchLabels = {}, matchExpressions = [] }: LabelSelector): Selector {
  return [
    ...Object.entries(matchLabels).map(([key, value]) => ({ key, operator: 'in' as const, values: [value] })),
    ...matchExpressions.map(({ key, operator, values = [] }) => ({ key, operator: operatorOf(operator), values })),
  ];
}

/**
 * Like `requirements`, for an unchecked selector. Throws an error that names the condition that the API server would
 * refuse.
 */
export function soundRequirements(selector: LabelSelector): Selector {
  const selected = requirements(selector);
  for (const requirement of selected) {
    const { key, operator, values } = requirement;
    const takesValues = operator === 'in' || operator === 'notin';
    if (!isSound(requirement) || takesValues !== values.length > 0) {
      const given = takesValues ? `values [${values.join(', ')}]` : `${values.length} values`;
      throw new Error(`"${key}" with ${given} is not a valid label condition`);
    }
  }
  return selected;
}

/** Formats a selector for the query parameter `labelSelector`. */
export function formatSelector(selector: Selector): string {
  return selector.map(formatRequirement).join(',');
}

function operatorOf(name: string): Requirement['operator'] {
  switch (name) {
    case 'In':
      return 'in';
    case 'NotIn':
      return 'notin';
    case 'Exists':
      return 'exists';
    case 'DoesNotExist':
      return '!';
    default:
      throw new Error(`"${name}" is not a valid label selector operator`);
  }
}

function holds({ operator, values }: Requirement, value: string | undefined): boolean {
  switch (operator) {
    case 'in':
      return value !== undefined && values.includes(value);
    case 'notin':
      return value === undefined || !values.includes(value);
    case 'exists':
      return value !== undefined;
    case '!':
      return value === undefined;
    case 'gt':
      return isInteger(value) && Number(value) > Number(values[0]);
    case 'lt':
      return isInteger(value) && Number(value) < Number(values[0]);
  }
}

function isInteger(value: string | undefined): boolean {
  return value !== undefined && /^[-+]?\d+$/.test(value);
}

function splitOutsideParentheses(text: string): string[] {
  return text.trim() === '' ? [] : text.split(/,(?![^()]*\))/);
}

function parseRequirement(part: string): Requirement {
  return parseSet(part) ?? parseComparison(part) ?? parsePresence(part);
}

function parseSet(part: string): Requirement | undefined {
  const [, key, operator, list] = setOperation.exec(part) ?? [];
  if (key === undefined || list === undefined) {
    return undefined;
  }
  return { key, operator: operator === 'in' ? 'in' : 'notin', values: list.split(',').map((value) => value.trim()) };
}

function parseComparison(part: string): Requirement | undefined {
  const [, key, sign, value] = comparison.exec(part) ?? [];
  if (key === undefined || sign === undefined || value === undefined) {
    return undefined;
  }
  return { key, operator: signs[sign] ?? 'in', values: [value] };
}

function parsePresence(part: string): Requirement {
  const absent = part.startsWith('!');
  return { key: absent ? part.slice(1).trim() : part, operator: absent ? '!' : 'exists', values: [] };
}

const signs: Readonly<Record<string, Requirement['operator']>> = { '!=': 'notin', '<': 'lt', '>': 'gt' };

function isSound({ key, operator, values }: Requirement): boolean {
  const ordered = operator === 'gt' || operator === 'lt';
  return qualifiedName.test(key) && values.every((value) => (ordered ? isInteger(value) : labelValue.test(value)));
}

function formatRequirement({ key, operator, values }: Requirement): string {
  switch (operator) {
    case 'in':
    case 'notin':
      return values.length === 1 && operator === 'in'
        ? `${key}=${values[0] ?? ''}`
        : `${key} ${operator} (${values.join(',')})`;
    case 'exists':
      return key;
    case '!':
      return `!${key}`;
    case 'gt':
      return `${key}>${values[0] ?? ''}`;
    case 'lt':
      return `${key}<${values[0] ?? ''}`;
  }
}
