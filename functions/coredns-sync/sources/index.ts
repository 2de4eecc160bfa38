import type { Policy } from '../policy.ts';
import { ingressRouteSource } from './ingress-route.ts';
import { ingressSource } from './ingress.ts';
import { routeSources } from './route.ts';
import type { Source } from './source.ts';

/** The kinds that the settings ask for. A further kind is one more file and one more line here. */
export function sourcesOf({ watchesGateways, watchesIngressRoutes }: Policy): readonly Source[] {
  return [
    ingressSource,
    ...(watchesGateways ? routeSources : []),
    ...(watchesIngressRoutes ? [ingressRouteSource] : []),
  ] as readonly Source[];
}
