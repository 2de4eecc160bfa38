import { type Resource } from '../../../lib/kube/model/resource.ts';
import type { KubeObject, Metadata } from '../../../lib/kube/model/wire.ts';
import { mappingOf, type Policy } from '../policy.ts';
import type { Ask, Source } from './source.ts';
import { hostsOfRule } from './traefik-rule.ts';

interface IngressRoute extends KubeObject {
  metadata?: Metadata;
  spec?: { readonly routes?: readonly { readonly match?: string }[] };
}

const ingressRoutes: Resource<IngressRoute> = {
  group: 'traefik.io',
  version: 'v1alpha1',
  kind: 'IngressRoute',
  plural: 'ingressroutes',
  namespaced: true,
};

export const ingressRouteSource: Source<IngressRoute> = {
  resource: ingressRoutes,
  custom: true,
  excluded: 'EXCLUDE_INGRESSROUTES',
  wildcard: 'label',
  reads: { spec: { routes: { match: true } } },
  refersTo: [],
  needs: () => ({}),
  asks,
};

/** A rule that does not parse asks for nothing; Traefik does not serve it either. */
function asks({ spec }: IngressRoute, policy: Policy): readonly Ask[] {
  const mapping = mappingOf(policy, 'IngressRoute', '');
  if (mapping === undefined) {
    return [];
  }
  const hosts = (spec?.routes ?? []).flatMap(({ match = '' }) => hostsOfRule(match) ?? []);
  return hosts.map((host) => ({ host, mapping }));
}
