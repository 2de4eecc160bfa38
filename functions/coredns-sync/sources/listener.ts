import type { Namespace } from '../../../lib/kube/model/resource.ts';
import { matchesLabelSelector } from '../../../lib/kube/model/selector.ts';
import { gatewayGroup, type Gateway, type Listener, type ParentRef } from './gateway.ts';

const protocols: Readonly<Record<string, readonly string[]>> = {
  HTTPRoute: ['HTTP', 'HTTPS'],
  GRPCRoute: ['HTTP', 'HTTPS'],
  TLSRoute: ['TLS'],
};

/** A route as its listeners see it. */
export interface Attaching {
  readonly kind: string;
  readonly namespace: string;
  /** With its labels, when they were read. */
  readonly namespaceObject: Namespace | undefined;
  readonly ref: ParentRef;
}

/** The listeners of a Gateway that let the route in by this reference. */
export function listenersFor(gateway: Gateway, route: Attaching): readonly Listener[] {
  return (gateway.spec?.listeners ?? []).filter(
    (listener) =>
      isMeant(listener, route.ref) &&
      speaks(listener, route.kind) &&
      allowsKind(listener, route.kind) &&
      allowsNamespace(listener, gateway.metadata?.namespace ?? '', route),
  );
}

function isMeant({ name, port }: Listener, ref: ParentRef): boolean {
  return (ref.sectionName === undefined || ref.sectionName === name) && (ref.port === undefined || ref.port === port);
}

function speaks({ protocol = '' }: Listener, kind: string): boolean {
  return protocols[kind]?.includes(protocol) ?? false;
}

/**
 * The names that both the route and the listener stand for: the narrower of the two. A route without hostnames takes those
 * of the listener; without either there is no name to serve.
 */
export function namesOf(hostnames: readonly string[], { hostname = '' }: Listener): readonly string[] {
  if (hostname === '') {
    return hostnames;
  }
  return hostnames.length === 0 ? [hostname] : hostnames.flatMap((own) => narrower(own, hostname));
}

function narrower(one: string, other: string): readonly string[] {
  if (one === other || isBelow(one, other)) {
    return [one];
  }
  return isBelow(other, one) ? [other] : [];
}

/** Does the wildcard cover the name, or the other wildcard? */
function isBelow(name: string, wildcard: string): boolean {
  return wildcard.startsWith('*.') && name.length > wildcard.length - 1 && name.endsWith(wildcard.slice(1));
}

function allowsKind({ allowedRoutes }: Listener, kind: string): boolean {
  const kinds = allowedRoutes?.kinds ?? [];
  return (
    kinds.length === 0 || kinds.some((each) => each.kind === kind && (each.group ?? gatewayGroup) === gatewayGroup)
  );
}

function allowsNamespace({ allowedRoutes }: Listener, own: string, route: Attaching): boolean {
  const { from = 'Same', selector } = allowedRoutes?.namespaces ?? {};
  switch (from) {
    case 'All':
      return true;
    case 'Same':
      return route.namespace === own;
    case 'Selector':
      return selector !== undefined && matchesLabelSelector(selector, route.namespaceObject?.metadata?.labels);
    default:
      return false;
  }
}
