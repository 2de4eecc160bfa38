import { type Kind, type Kinds, apiVersionOf } from '../model/kinds.ts';
import { parseAccept } from '../http/negotiate.ts';

/** The Kubernetes version whose behaviour the sandbox has. */
export const version = {
  major: '1',
  minor: '36',
  gitVersion: 'v1.36.3',
  gitCommit: '',
  gitTreeState: 'clean',
  buildDate: '1970-01-01T00:00:00Z',
  goVersion: '',
  compiler: 'node',
  platform: `${process.platform}/${process.arch}`,
};

export interface Document {
  readonly body: object;
  readonly contentType?: string;
}

const aggregatedVersions = ['v2', 'v2beta1'];

/** Answers what kinds there are; `undefined` for other paths. */
export function discover(kinds: Kinds, path: string, accept: string | undefined): Document | undefined {
  const [root, group, groupVersion, ...rest] = path.split('/').filter((part) => part !== '');
  if (rest.length > 0 || (root !== 'api' && root !== 'apis')) {
    return undefined;
  }
  if (group === undefined) {
    return rootDocument(kinds, root, accept);
  }
  if (root === 'api') {
    return groupVersion === undefined ? resourceList(kinds, '', group) : undefined;
  }
  return groupVersion === undefined ? groupDocument(kinds, group) : resourceList(kinds, group, groupVersion);
}

function rootDocument(kinds: Kinds, root: 'api' | 'apis', accept: string | undefined): Document {
  const groups = root === 'api' ? [''] : kinds.groups().filter((group) => group !== '');
  const aggregated = aggregatedVersion(accept);
  if (aggregated !== undefined) {
    return {
      contentType: `application/json;g=apidiscovery.k8s.io;v=${aggregated};as=APIGroupDiscoveryList`,
      body: {
        kind: 'APIGroupDiscoveryList',
        apiVersion: `apidiscovery.k8s.io/${aggregated}`,
        metadata: {},
        items: groups.map((group) => groupDiscovery(kinds, group)),
      },
    };
  }
  return root === 'api'
    ? { body: { kind: 'APIVersions', versions: ['v1'], serverAddressByClientCIDRs: [] } }
    : { body: { kind: 'APIGroupList', apiVersion: 'v1', groups: groups.map((group) => groupEntry(kinds, group)) } };
}

function aggregatedVersion(accept = ''): string | undefined {
  return parseAccept(accept)
    .filter(({ parameters }) => parameters.get('as') === 'APIGroupDiscoveryList')
    .map(({ parameters }) => parameters.get('v') ?? '')
    .find((asked) => aggregatedVersions.includes(asked));
}

function groupDocument(kinds: Kinds, group: string): Document | undefined {
  return kinds.versions(group).length === 0
    ? undefined
    : { body: { kind: 'APIGroup', apiVersion: 'v1', ...groupEntry(kinds, group) } };
}

function groupEntry(kinds: Kinds, group: string): object {
  const versions = kinds
    .versions(group)
    .map((each) => ({ groupVersion: apiVersionOf({ group, version: each }), version: each }));
  return { name: group, versions, preferredVersion: versions[0] };
}

function resourceList(kinds: Kinds, group: string, groupVersion: string): Document | undefined {
  const found = kindsIn(kinds, group, groupVersion);
  return found.length === 0
    ? undefined
    : {
        body: {
          kind: 'APIResourceList',
          apiVersion: 'v1',
          groupVersion: apiVersionOf({ group, version: groupVersion }),
          resources: found.flatMap(resourceEntries),
        },
      };
}

function resourceEntries(kind: Kind): readonly object[] {
  const { plural, singular, namespaced, verbs, shortNames, categories } = kind;
  const own = {
    name: plural,
    singularName: singular,
    namespaced,
    kind: kind.kind,
    verbs,
    ...(shortNames.length > 0 && { shortNames }),
    ...(categories.length > 0 && { categories }),
  };
  const parts = kind.subresources.map((part) => ({
    name: `${plural}/${part.name}`,
    singularName: '',
    namespaced,
    ...(isForeign(kind, part) && { group: part.group, version: part.version }),
    kind: part.kind,
    verbs: part.verbs,
  }));
  return [own, ...parts];
}

function groupDiscovery(kinds: Kinds, group: string): object {
  return {
    metadata: group === '' ? {} : { name: group },
    versions: kinds.versions(group).map((each) => ({
      version: each,
      resources: kindsIn(kinds, group, each).map(resourceDiscovery),
      freshness: 'Current',
    })),
  };
}

const sameAsParent = { group: '', version: '' };

function resourceDiscovery(kind: Kind): object {
  const { group, version: groupVersion, shortNames, categories } = kind;
  const subresources = kind.subresources.map((part) => ({
    subresource: part.name,
    responseKind: {
      ...(kind.isCustom || isForeign(kind, part) ? { group: part.group, version: part.version } : sameAsParent),
      kind: part.kind,
    },
    verbs: part.verbs,
  }));
  return {
    resource: kind.plural,
    responseKind: { ...(kind.isCustom ? { group, version: groupVersion } : sameAsParent), kind: kind.kind },
    scope: kind.namespaced ? 'Namespaced' : 'Cluster',
    singularResource: kind.singular,
    verbs: kind.verbs,
    ...(shortNames.length > 0 && { shortNames }),
    ...(categories.length > 0 && { categories }),
    ...(subresources.length > 0 && { subresources }),
  };
}

function kindsIn(kinds: Kinds, group: string, groupVersion: string): readonly Kind[] {
  return kinds.all().filter((kind) => kind.group === group && kind.version === groupVersion);
}

function isForeign(kind: Kind, part: Kind['subresources'][number]): boolean {
  return part.group !== kind.group || part.version !== kind.version;
}
