import type { Column, Kind, Subresource } from '../../../../lib/sandbox/schema/tables.ts';
import type { Client } from '../../../../lib/sandbox/test/contract/client.ts';
import type { Definitions } from './definitions.ts';
import { fieldSelectors } from './field-selectors.ts';
import { apiPath, served } from './served.ts';

/** A row of an APIResourceList; a subresource is named `resource/subresource`. */
interface ApiResource {
  readonly name: string;
  readonly singularName: string;
  readonly namespaced: boolean;
  readonly kind: string;
  readonly group?: string;
  readonly version?: string;
  readonly verbs: readonly string[];
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
}

const asTable = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' };

/** Reads discovery, table columns and field selectors of all served kinds. */
export async function readKinds(client: Client, definitions: Definitions): Promise<Kind[]> {
  const kinds: Kind[] = [];
  for (const [groupVersion, plurals] of Object.entries(served)) {
    const { text } = await client.call('GET', `/${apiPath(groupVersion)}`);
    const { resources } = JSON.parse(text) as { resources: readonly ApiResource[] };
    for (const plural of plurals) {
      kinds.push(await readKind(client, definitions, { groupVersion, plural, resources }));
    }
  }
  return kinds;
}

interface Place {
  readonly groupVersion: string;
  readonly plural: string;
  readonly resources: readonly ApiResource[];
}

async function readKind(client: Client, definitions: Definitions, place: Place): Promise<Kind> {
  const { groupVersion, plural, resources } = place;
  const resource = resources.find(({ name }) => name === plural);
  if (resource === undefined) {
    throw new Error(`${groupVersion} has no ${plural}`);
  }
  const { kind, namespaced, verbs, shortNames = [], categories = [], singularName } = resource;
  const { group, version } = split(groupVersion);
  const schema = definitions.nameOf({ group, version, kind });
  const path = `/${apiPath(groupVersion)}/${plural}`;
  const lists = verbs.includes('list');
  return {
    group,
    version,
    kind,
    plural,
    singular: singularName,
    shortNames,
    categories,
    namespaced,
    verbs: [...verbs].sort(),
    schema,
    subresources: resources
      .filter(({ name }) => name.startsWith(`${plural}/`))
      .map((subresource) => readSubresource(subresource, { group, version }, definitions)),
    columns: lists ? await readColumns(client, path) : [],
    fieldSelectors: lists ? await fieldSelectors(client, path, { schema, definitions }) : [],
  };
}

function readSubresource(
  resource: ApiResource,
  parent: { group: string; version: string },
  definitions: Definitions,
): Subresource {
  const { name, kind, verbs, group = parent.group, version = parent.version } = resource;
  const streams = ['NodeProxyOptions', 'PodAttachOptions', 'PodExecOptions', 'PodPortForwardOptions'];
  const opaque = [...streams, 'PodProxyOptions', 'ServiceProxyOptions'].includes(kind);
  return {
    name: name.slice(name.indexOf('/') + 1),
    group,
    version,
    kind,
    verbs: [...verbs].sort(),
    ...(opaque ? {} : { schema: definitions.nameOf({ group, version, kind }) }),
  };
}

async function readColumns(client: Client, path: string): Promise<Column[]> {
  const { text } = await client.call('GET', path, { headers: asTable, query: { limit: 1 } });
  const { columnDefinitions } = JSON.parse(text) as { columnDefinitions: readonly Column[] };
  return columnDefinitions.map(({ name, type, format, priority }) => ({ name, type, format, priority }));
}

function split(groupVersion: string): { group: string; version: string } {
  const [version = '', group = ''] = groupVersion.split('/').reverse();
  return { group, version };
}
