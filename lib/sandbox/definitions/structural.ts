import { isRecord } from '../../base/json.ts';
import { isList, type Json, listAt, objectAt } from '../schema/value.ts';
import { checkOneOf, isMissing, type Place } from '../checks/fields.ts';
import type { Report } from '../checks/report.ts';
import { compilePattern } from '../schema/pattern.ts';

const types = ['array', 'boolean', 'integer', 'number', 'object', 'string'];
/** Keywords that say something about the structure, and so must not stand inside of `allOf`, `anyOf`, `oneOf` and `not`. */
const structural = [
  ...['type', 'description', 'title', 'nullable', 'x-kubernetes-preserve-unknown-fields'],
  ...['x-kubernetes-embedded-resource', 'x-kubernetes-int-or-string'],
];

/** Checks that a schema is structural: that it alone says which fields an object has and what they are. */
export function checkStructural(report: Report, { path, value }: Place): void {
  const node = isRecord(value) ? value : {};
  if (isMissing(node['type'])) {
    report.required(`${path}.type`, 'must not be empty at the root');
  } else if (node['type'] !== 'object') {
    report.invalid(`${path}.type`, node['type'], 'must be object at the root');
  }
  const metadata = objectAt(node, 'properties', 'metadata', 'properties');
  if (Object.keys(metadata).some((name) => name !== 'name' && name !== 'generateName')) {
    const detail = 'must not specify anything other than name and generateName, but metadata is implicitly specified';
    report.forbidden(`${path}.properties[metadata]`, detail);
  }
  for (const name of ['apiVersion', 'kind']) {
    const property = objectAt(node, 'properties', name);
    if (property['type'] !== undefined && property['type'] !== 'string') {
      report.invalid(`${path}.properties[${name}].type`, property['type'], 'must be string');
    }
  }
  checkNode(report, { path, value: node });
}

/** The schemas directly inside of a schema, each with its path. */
export function innerSchemas({ path, value }: Place): readonly Place[] {
  const { items, additionalProperties } = isRecord(value) ? value : {};
  return [
    ...Object.entries(objectAt(value, 'properties')).map(([name, inner]) => ({
      path: `${path}.properties[${name}]`,
      value: inner,
    })),
    ...(isRecord(items) ? [{ path: `${path}.items`, value: items }] : []),
    ...(isRecord(additionalProperties) ? [{ path: `${path}.additionalProperties`, value: additionalProperties }] : []),
  ];
}

function checkNode(report: Report, place: Place): void {
  const node = isRecord(place.value) ? place.value : {};
  checkForbidden(report, node, place.path);
  checkArray(report, node, place.path);
  checkPattern(report, node, place.path);
  for (const inner of innerSchemas(place)) {
    checkHasType(report, inner);
    checkNode(report, inner);
  }
  for (const part of refinements(node, place.path)) {
    checkRefinement(report, part);
  }
}

function checkForbidden(report: Report, node: Json, path: string): void {
  if (node['$ref'] !== undefined) {
    report.forbidden(`${path}.$ref`, '$ref is not supported');
  }
  if (node['uniqueItems'] === true) {
    const detail = 'uniqueItems cannot be set to true since the runtime complexity becomes quadratic';
    report.forbidden(`${path}.uniqueItems`, detail);
  }
  if (isRecord(node['additionalProperties']) && Object.keys(objectAt(node, 'properties')).length > 0) {
    report.forbidden(`${path}.additionalProperties`, 'additionalProperties and properties are mutual exclusive');
  }
  if (!isMissing(node['type'])) {
    checkOneOf(report, { path: `${path}.type`, value: node['type'] }, types);
  }
  if (node['x-kubernetes-preserve-unknown-fields'] === false) {
    report.invalid(`${path}.x-kubernetes-preserve-unknown-fields`, false, 'must be true or undefined');
  }
}

function checkHasType(report: Report, { path, value }: Place): void {
  const node = isRecord(value) ? value : {};
  const isFree = node['x-kubernetes-int-or-string'] === true || node['x-kubernetes-preserve-unknown-fields'] === true;
  if (isMissing(node['type']) && !isFree && node['$ref'] === undefined) {
    report.required(`${path}.type`, 'must not be empty for specified object fields');
  }
}

function checkArray(report: Report, node: Json, path: string): void {
  if (node['type'] !== 'array') {
    return;
  }
  if (node['items'] === undefined) {
    report.required(`${path}.items`, 'must be specified');
  } else if (isList(node['items'])) {
    report.forbidden(`${path}.items`, 'items must be a schema object and not an array');
  }
}

function checkPattern(report: Report, { pattern }: Json, path: string): void {
  if (typeof pattern !== 'string') {
    return;
  }
  try {
    compilePattern(pattern);
  } catch (error) {
    const why = error instanceof Error ? error.message : '';
    report.invalid(`${path}.pattern`, pattern, `must be a valid regular expression, but isn't: ${why}`);
  }
}

function refinements(node: Json, path: string): readonly Place[] {
  return [
    ...['allOf', 'anyOf', 'oneOf'].flatMap((name) =>
      listAt(node, name).map((value, index) => ({ path: `${path}.${name}[${index}]`, value })),
    ),
    ...(isRecord(node['not']) ? [{ path: `${path}.not`, value: node['not'] }] : []),
  ];
}

function checkRefinement(report: Report, place: Place): void {
  const node = isRecord(place.value) ? place.value : {};
  const isNumberOrText = node['type'] === 'integer' || node['type'] === 'string';
  for (const keyword of structural.filter((name) => !isMissing(node[name]) && node[name] !== false)) {
    // The one exception: how a field is declared to be a number or a text.
    if (!(keyword === 'type' && isNumberOrText && place.path.includes('anyOf['))) {
      report.forbidden(`${place.path}.${keyword}`, 'must be empty to be structural');
    }
  }
  if (node['default'] !== undefined) {
    report.forbidden(`${place.path}.default`, 'must be undefined to be structural');
  }
  for (const inner of [...innerSchemas(place), ...refinements(node, place.path)]) {
    checkRefinement(report, inner);
  }
}
