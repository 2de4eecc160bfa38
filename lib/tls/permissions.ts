import type { Permission } from '../function/permissions.ts';
import type { TlsMode } from './settings.ts';
import type { Target } from './webhooks.ts';

/** The rights to maintain the certificate: the named webhook configurations, and in mode `self` the Secret. */
export function certificatePermissions(
  mode: TlsMode,
  { secret, targets }: { readonly secret: string; readonly targets: readonly Target[] },
): Permission[] {
  if (mode === 'none') {
    return [];
  }
  const verbs = mode === 'cert-manager' ? ['get'] : ['get', 'patch'];
  return [
    ...targets.map(({ resource, name }): Permission => ({
      groups: [resource.group],
      resources: [resource.plural],
      verbs,
      names: [name],
      scope: 'cluster',
    })),
    ...(mode === 'cert-manager' ? [] : [probing]),
    ...(mode === 'self' ? secretPermissions(secret) : []),
  ];
}

/** An old authority retires only when no replica uses it any more, so replicas are probed. */
const probing: Permission = {
  groups: ['discovery.k8s.io'],
  resources: ['endpointslices'],
  verbs: ['list'],
  scope: 'own',
  role: 'events',
};

/** Either role may have to create the Secret at the first start; only the events role changes it. */
function secretPermissions(secret: string): Permission[] {
  const named = { groups: [''], resources: ['secrets'], names: [secret], scope: 'own' } as const;
  return [
    { ...named, verbs: ['get', 'patch'], role: 'events' },
    { ...named, verbs: ['get'], role: 'admission' },
    { groups: [''], resources: ['secrets'], verbs: ['create'], scope: 'own' },
  ];
}
