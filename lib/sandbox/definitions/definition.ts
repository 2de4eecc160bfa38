import { customSchema } from './custom-schema.ts';
import { freeform, type Schema } from '../schema/schema.ts';
import { checkName, checkOneOf, checkRequiredName, field, isMissing, type Place } from '../checks/fields.ts';
import { label1035, subdomain } from '../checks/names.ts';
import type { Report } from '../checks/report.ts';
import { isRecord } from '../../base/json.ts';
import { at, isEqual, type Json, listAt, stringAt } from '../schema/value.ts';
import { checkDefaults } from './defaults.ts';
import { checkSharing } from './lists.ts';
import { checkRules } from './rules.ts';
import { checkStructural } from './structural.ts';

const text: Schema = { ...freeform, shape: 'scalar', type: 'string' };
/** As much of the metadata as a definition may speak of. */
const names: Schema = {
  ...freeform,
  shape: 'struct',
  definition: 'ObjectMeta',
  properties: new Map([
    ['name', text],
    ['generateName', text],
  ]),
};

/** Checks a CustomResourceDefinition; a rule that cannot be evaluated is refused here. */
export function checkDefinition(report: Report, object: Json): void {
  const { path, value } = field(object, '', 'spec');
  const plural = stringAt(value, 'names', 'plural') ?? '';
  const group = stringAt(value, 'group') ?? '';
  const name = stringAt(object, 'metadata', 'name');
  if (name !== `${plural}.${group}`) {
    report.invalid('metadata.name', name, 'must be spec.names.plural+"."+spec.group');
  }
  checkGroup(report, field(value, path, 'group'));
  if (isMissing(at(value, 'scope'))) {
    report.required('spec.scope');
  }
  checkOneOf(report, field(value, path, 'scope'), ['Cluster', 'Namespaced']);
  checkVersions(report, { path, value });
  checkNames(report, field(value, path, 'names'));
  checkConversion(report, field(value, path, 'conversion'));
}

function checkGroup(report: Report, place: Place): void {
  const group = typeof place.value === 'string' ? place.value : '';
  const before = report.causes.length;
  checkRequiredName(report, place, subdomain);
  if (report.causes.length === before && !group.includes('.')) {
    report.invalid(place.path, group, 'should be a domain with at least one dot');
  }
}

function checkNames(report: Report, { path, value }: Place): void {
  checkRequiredName(report, field(value, path, 'plural'), label1035);
  checkRequiredName(report, field(value, path, 'singular'), label1035);
  checkRequiredName(report, field(value, path, 'kind'), mixedCase);
  checkRequiredName(report, field(value, path, 'listKind'), mixedCase);
  checkEach(report, field(value, path, 'shortNames'));
  checkEach(report, field(value, path, 'categories'));
}

function checkEach(report: Report, { path, value }: Place): void {
  for (const [index, name] of listAt({ value }, 'value').entries()) {
    checkName(report, { path: `${path}[${index}]`, value: name }, label1035);
  }
}

function mixedCase(name: string): readonly string[] {
  return label1035(name.toLowerCase()).map((problem) => `may have mixed case, but should otherwise match: ${problem}`);
}

function checkVersions(report: Report, { path, value }: Place): void {
  const versions = listAt(value, 'versions').map((version, index) => ({
    path: `${path}.versions[${index}]`,
    value: version,
  }));
  for (const version of versions) {
    checkName(report, field(version.value, version.path, 'name'), label1035);
  }
  const shown = versions.map((version) => at(version.value, 'name'));
  if (new Set(versions.map((version) => at(version.value, 'name'))).size < versions.length) {
    report.invalid(`${path}.versions`, shown, 'must contain unique version names');
  }
  if (versions.filter((version) => at(version.value, 'storage') === true).length !== 1) {
    report.invalid(`${path}.versions`, shown, 'must have exactly one version marked as storage version');
  }
  for (const schema of schemaPlaces(versions)) {
    checkSchema(report, schema);
  }
}

function schemaPlaces(versions: readonly Place[]): readonly Place[] {
  const places = versions.map((version) => ({
    path: `${version.path}.schema.openAPIV3Schema`,
    value: at(version.value, 'schema', 'openAPIV3Schema'),
  }));
  const [first, ...others] = places;
  const isShared = first !== undefined && others.every((other) => isEqual(other.value, first.value));
  return isShared && first.value !== undefined ? [{ ...first, path: 'spec.validation.openAPIV3Schema' }] : places;
}

function checkSchema(report: Report, place: Place): void {
  if (!isRecord(place.value)) {
    report.required(place.path);
    return;
  }
  const before = report.causes.length;
  checkStructural(report, place);
  checkSharing(report, place);
  if (report.causes.length === before) {
    const schema = customSchema(place.value, names);
    checkDefaults(report, schema, place.path);
    checkRules(report, schema, { path: place.path });
  }
}

function checkConversion(report: Report, { path, value }: Place): void {
  const strategy = field(value, path, 'strategy');
  checkOneOf(report, strategy, ['None', 'Webhook']);
  if (strategy.value === 'Webhook') {
    report.forbidden(strategy.path, 'the sandbox does not serve conversion webhooks');
  }
}
