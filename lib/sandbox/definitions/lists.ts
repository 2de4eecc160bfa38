import { isRecord } from '../../base/json.ts';
import { type Json, listAt, objectAt } from '../schema/value.ts';
import { checkOneOf, type Place } from '../checks/fields.ts';
import type { Report } from '../checks/report.ts';
import { innerSchemas } from './structural.ts';

const listType = 'x-kubernetes-list-type';
const listKeys = 'x-kubernetes-list-map-keys';
const mapType = 'x-kubernetes-map-type';

/** Checks what a schema says about how lists and maps are shared among writers. */
export function checkSharing(report: Report, place: Place): void {
  const node = isRecord(place.value) ? place.value : {};
  checkListType(report, node, place.path);
  checkMapType(report, node, place.path);
  for (const inner of innerSchemas(place)) {
    checkSharing(report, inner);
  }
}

function checkListType(report: Report, node: Json, path: string): void {
  if (node[listType] === undefined) {
    return;
  }
  if (node['type'] !== 'array') {
    report.invalid(`${path}.type`, node['type'], `must be array if ${listType} is specified`);
  }
  checkOneOf(report, { path: `${path}.${listType}`, value: node[listType] }, ['atomic', 'set', 'map']);
  const items = objectAt(node, 'items');
  if (node[listType] === 'map') {
    checkKeys(report, items, { path, keys: listAt(node, listKeys).map(String) });
  } else if (node[listType] === 'set' && items['type'] === 'object' && items[mapType] !== 'atomic') {
    const detail = `must be atomic as item of a list with ${listType}=set`;
    report.invalid(`${path}.items.${mapType}`, items[mapType], detail);
  }
}

function checkKeys(report: Report, items: Json, { path, keys }: { path: string; keys: readonly string[] }): void {
  if (items['type'] !== 'object') {
    report.invalid(`${path}.items.type`, items['type'], `must be object if parent array's ${listType} is map`);
    return;
  }
  const properties = objectAt(items, 'properties');
  if (keys.length === 0) {
    report.required(`${path}.${listKeys}`, `must not be empty if ${listType} is map`);
  }
  if (keys.some((key) => properties[key] === undefined)) {
    report.invalid(`${path}.${listKeys}`, keys, 'entries must all be names of item properties');
    return;
  }
  const required = listAt(items, 'required');
  for (const key of keys.filter((name) => !required.includes(name))) {
    if (objectAt(properties, key)['default'] === undefined) {
      const detail = `this property is in ${listKeys}, so it must have a default or be a required property`;
      report.required(`${path}.items.properties[${key}].default`, detail);
    }
  }
}

function checkMapType(report: Report, node: Json, path: string): void {
  if (node[mapType] === undefined) {
    return;
  }
  if (node['type'] !== 'object') {
    report.invalid(`${path}.type`, node['type'], `must be object if ${mapType} is specified`);
  }
  checkOneOf(report, { path: `${path}.${mapType}`, value: node[mapType] }, ['atomic', 'granular']);
}
