import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readDefinitionTable, readKindTable } from '../schema/tables.ts';

/**
 * Makes lib/sandbox/schema/protobuf.json from the struct tags of Kubernetes' Go types: `node lib/sandbox/test/protobuf-table.ts "$(go env GOMODCACHE)"`.
 * Field numbers are the one thing that OpenAPI does not say about the bodies that typed Go clients send.
 */
const version = 'v0.36.3';
const modules: Readonly<Record<string, string>> = {
  'io.k8s.api.': `k8s.io/api@${version}`,
  'io.k8s.apimachinery.': `k8s.io/apimachinery@${version}`,
};
const field = /^\s*(?:(\w+)\s+)?(\S+)\s+`json:"([^",]*)([^"]*)"[^`]*?\sprotobuf:"[a-z0-9]+,(\d+),/;

const [, , cache = ''] = process.argv;
const definitions = readDefinitionTable();
const table = new Map<string, Record<string, string>>();
const waiting = readKindTable().flatMap(({ schema, subresources }) => [
  schema,
  ...subresources.flatMap((subresource) => subresource.schema ?? []),
]);
waiting.push('io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions');
for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
  const lines = structOf(name);
  if (lines !== undefined && !table.has(name)) {
    table.set(name, fieldsOf(name, lines));
    waiting.push(...references(definitions[name]));
  }
}
const lines = [...table]
  .filter(([, fields]) => Object.keys(fields).length > 0)
  .sort(([a], [b]) => (a < b ? -1 : 1))
  .map(([name, fields]) => `${JSON.stringify(name)}:${JSON.stringify(fields)}`);
writeFileSync(new URL('../schema/protobuf.json', import.meta.url), `{\n${lines.join(',\n')}\n}\n`);

/** By number: the JSON name, with `>` and the definition for inlined structs, `?` where a zero value means absent. */
function fieldsOf(name: string, lines: readonly string[]): Record<string, string> {
  const fields: Record<string, string> = {};
  for (const line of lines) {
    const [, , type, json, options, number] = field.exec(line) ?? [];
    if (type === undefined || json === undefined || number === undefined) {
      continue;
    }
    if (json === '') {
      fields[number] = `>${sibling(name, type)}`;
      waiting.push(sibling(name, type));
    } else {
      fields[number] = isDropped(type, options) ? `${json}?` : json;
    }
  }
  return fields;
}

function isDropped(type: string, options = ''): boolean {
  return !type.startsWith('*') && options.includes('omitempty');
}

function sibling(name: string, type: string): string {
  return name.slice(0, name.lastIndexOf('.') + 1) + type.replace(/^\*?(\w+\.)?/, '');
}

function references(node: unknown): readonly string[] {
  if (typeof node !== 'object' || node === null) {
    return [];
  }
  const own = '$ref' in node && typeof node.$ref === 'string' ? [node.$ref] : [];
  return [...own, ...Object.values(node).flatMap(references)];
}

function structOf(name: string): readonly string[] | undefined {
  const prefix = Object.keys(modules).find((each) => name.startsWith(each));
  if (prefix === undefined) {
    return undefined;
  }
  const path = name.slice(prefix.length).split('.');
  const type = path.pop() ?? '';
  const file = join(cache, modules[prefix] ?? '', ...path, 'types.go');
  if (!existsSync(file)) {
    return undefined;
  }
  const text = readFileSync(file, 'utf8');
  const start = text.search(new RegExp(`^type ${type} struct \\{$`, 'm'));
  return start < 0 ? undefined : text.slice(start, text.indexOf('\n}', start)).split('\n');
}
