import { text, texts } from './cel.ts';
import type { Expression, Rule, Toleration } from './rule.ts';

/** A change that a MutatingAdmissionPolicy makes. */
export interface Mutation {
  readonly patchType: 'JSONPatch';
  readonly jsonPatch: { readonly expression: string };
}

const affinity = 'object.spec.affinity';
const nodeAffinity = `${affinity}.nodeAffinity`;
const preferred = `${nodeAffinity}.preferredDuringSchedulingIgnoredDuringExecution`;
const nodeAffinityType = 'Object.spec.affinity.nodeAffinity';
const preferredType = `${nodeAffinityType}.preferredDuringSchedulingIgnoredDuringExecution`;
const preferredPath = '/spec/affinity/nodeAffinity/preferredDuringSchedulingIgnoredDuringExecution';

/** The same additions on the same conditions as in patch.ts; a JSON patch, since the list is atomic. */
export function preferMutation({ term, weight }: Rule, applies: string): Mutation {
  const hasNodeAffinity = `has(${affinity}) && has(${nodeAffinity})`;
  const hasPreferred = `${hasNodeAffinity} && has(${preferred}) && ${preferred}.size() > 0`;
  const expressions = term.matchExpressions.map(expressionLiteral).join(', ');
  const preference = `${preferredType}.preference{matchExpressions: [${expressions}]}`;
  const item = `${preferredType}{weight: ${weight}, preference: ${preference}}`;
  const nodeAffinityValue = `${nodeAffinityType}{preferredDuringSchedulingIgnoredDuringExecution: [${item}]}`;
  return mutation(`!${applies} || (${hasPreferred} && ${preferred}.exists(p, ${isSameTerm(term.matchExpressions)}))`, [
    [`!has(${affinity})`, add('/spec/affinity', `Object.spec.affinity{nodeAffinity: ${nodeAffinityValue}}`)],
    [`!(${hasNodeAffinity})`, add('/spec/affinity/nodeAffinity', nodeAffinityValue)],
    [`!(${hasPreferred})`, `${emptyList(preferredPath)}, ${add(`${preferredPath}/-`, item)}`],
    ['true', add(`${preferredPath}/-`, item)],
  ]);
}

export function tolerateMutations({ tolerations }: Rule, applies: string): Mutation[] {
  const list = 'object.spec.tolerations';
  const hasSome = `has(${list}) && ${list}.size() > 0`;
  return tolerations.map((toleration) => {
    const item = tolerationLiteral(toleration);
    return mutation(`!${applies} || (${hasSome} && ${list}.exists(t, ${isSameToleration(toleration)}))`, [
      [`!(${hasSome})`, `${emptyList('/spec/tolerations')}, ${add('/spec/tolerations/-', item)}`],
      ['true', add('/spec/tolerations/-', item)],
    ]);
  });
}

/** A policy must have at least one. */
export const noMutation: Mutation = mutation('true', [['true', add('/kind', '"Pod"')]]);

/** Nothing where nothing is to be done, otherwise the first additions whose condition holds. */
function mutation(nothing: string, additions: readonly (readonly [condition: string, operations: string])[]): Mutation {
  const chosen = additions.reduceRight(
    (rest, [condition, operations]) => (rest === '' ? `[${operations}]` : `${condition} ? [${operations}] : ${rest}`),
    '',
  );
  return { patchType: 'JSONPatch', jsonPatch: { expression: `${nothing} ? [] : (${chosen})` } };
}

function add(path: string, value: string): string {
  return `JSONPatch{op: "add", path: ${text(path)}, value: ${value}}`;
}

/** A list of objects as a value makes the API server of 1.36 panic, which refuses the pod: its items come one by one. */
function emptyList(path: string): string {
  return add(path, '[]');
}

function expressionLiteral({ key, operator, values = [] }: Expression): string {
  const type = `${preferredType}.preference.matchExpressions`;
  const listed = values.length === 0 ? '' : `, values: ${texts(values)}`;
  return `${type}{key: ${text(key)}, operator: ${text(operator)}${listed}}`;
}

function isSameTerm(expressions: readonly Expression[]): string {
  const term = 'p.preference';
  const found = expressions.map((expression) => `${term}.matchExpressions.exists(e, ${isSameExpression(expression)})`);
  return [
    `has(${term})`,
    `(!has(${term}.matchFields) || ${term}.matchFields.size() == 0)`,
    `has(${term}.matchExpressions)`,
    `${term}.matchExpressions.size() == ${expressions.length}`,
    ...found,
  ].join(' && ');
}

function isSameExpression({ key, operator, values = [] }: Expression): string {
  const sameValues =
    values.length === 0
      ? '(!has(e.values) || e.values.size() == 0)'
      : `has(e.values) && e.values.all(v, v in ${texts(values)}) && ${texts(values)}.all(v, v in e.values)`;
  return `e.key == ${text(key)} && e.operator == ${text(operator)} && ${sameValues}`;
}

function tolerationLiteral({ key, operator, value, effect, tolerationSeconds }: Toleration): string {
  const fields = [
    ...Object.entries({ key, operator, value, effect }).flatMap(([name, given]) =>
      given === undefined ? [] : [`${name}: ${text(given)}`],
    ),
    ...(tolerationSeconds === undefined ? [] : [`tolerationSeconds: ${tolerationSeconds}`]),
  ];
  return `Object.spec.tolerations{${fields.join(', ')}}`;
}

function isSameToleration({ key, operator = 'Equal', value = '', effect, tolerationSeconds }: Toleration): string {
  return [
    isField('key', key === undefined ? undefined : text(key)),
    `(has(t.operator) ? t.operator : "Equal") == ${text(operator)}`,
    `(has(t.value) ? t.value : "") == ${text(value)}`,
    isField('effect', effect === undefined ? undefined : text(effect)),
    isField('tolerationSeconds', tolerationSeconds === undefined ? undefined : String(tolerationSeconds)),
  ].join(' && ');
}

function isField(name: string, literal: string | undefined): string {
  return literal === undefined ? `!has(t.${name})` : `has(t.${name}) && t.${name} == ${literal}`;
}
