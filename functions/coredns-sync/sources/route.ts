import type { Resource } from '../../../lib/kube/model/resource.ts';
import { mappingOf, type Policy } from '../policy.ts';
import { gatewayGroup, type ParentRef, type Route } from './gateway.ts';
import { listenersFor, namesOf } from './listener.ts';
import type { Ask, Needs, Source, World } from './source.ts';

/** All of them are v1 since Gateway API 1.5. */
export const routeSources: readonly Source<Route>[] = [
  routeSource(routeResource('HTTPRoute', 'httproutes', 'v1')),
  routeSource(routeResource('GRPCRoute', 'grpcroutes', 'v1')),
  routeSource(routeResource('TLSRoute', 'tlsroutes', 'v1')),
];

function routeResource(kind: string, plural: string, version: string): Resource<Route> {
  return { group: gatewayGroup, version, kind, plural, namespaced: true };
}

function routeSource(resource: Resource<Route>): Source<Route> {
  return {
    resource,
    custom: true,
    excluded: 'EXCLUDE_HTTPROUTES',
    wildcard: 'suffix',
    reads: { spec: { hostnames: true, parentRefs: true }, status: { parents: true } },
    refersTo: ['gateways', 'namespaces'],
    needs,
    asks: (route, policy, world) => asks(route, resource.kind, { policy, world }),
  };
}

function needs(route: Route): Needs {
  const namespace = route.metadata?.namespace ?? '';
  const parents = acceptedParents(route).map((ref) => gatewayKey(ref, namespace));
  return { gateways: [...new Set(parents)], ...(parents.length === 0 ? {} : { namespaces: [namespace] }) };
}

function asks(
  route: Route,
  kind: string,
  { policy, world }: { readonly policy: Policy; readonly world: World },
): readonly Ask[] {
  const namespace = route.metadata?.namespace ?? '';
  const namespaceObject = world.namespaces.get(namespace);
  return acceptedParents(route).flatMap((ref) => {
    const gateway = world.gateways.get(gatewayKey(ref, namespace));
    const mapping = mappingOf(policy, 'Gateway', gateway?.spec?.gatewayClassName ?? '');
    if (gateway === undefined || mapping === undefined) {
      return [];
    }
    const listeners = listenersFor(gateway, { kind, namespace, namespaceObject, ref });
    const names = listeners.flatMap((listener) => namesOf(route.spec?.hostnames ?? [], listener));
    return names.map((host) => ({ host, mapping }));
  });
}

/** Gateways that the route names and whose controller says that it took the route. */
function acceptedParents({ metadata, spec, status }: Route): readonly ParentRef[] {
  const namespace = metadata?.namespace ?? '';
  const accepted = (status?.parents ?? [])
    .filter(({ conditions = [] }) => conditions.some(({ type, status: is }) => type === 'Accepted' && is === 'True'))
    .map(({ parentRef = {} }) => refKey(parentRef, namespace));
  return (spec?.parentRefs ?? []).filter(
    (ref) =>
      (ref.kind ?? 'Gateway') === 'Gateway' &&
      (ref.group ?? gatewayGroup) === gatewayGroup &&
      accepted.includes(refKey(ref, namespace)),
  );
}

function gatewayKey({ namespace, name = '' }: ParentRef, own: string): string {
  return `${namespace ?? own}/${name}`;
}

function refKey(ref: ParentRef, own: string): string {
  const kind = [ref.group ?? gatewayGroup, ref.kind ?? 'Gateway'];
  return [...kind, gatewayKey(ref, own), ref.sectionName ?? '', ref.port ?? ''].join(' ');
}
