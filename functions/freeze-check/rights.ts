import type { Permission } from '../../lib/function/permissions.ts';
import type { Config } from './config.ts';
import { heldKinds } from './hold/kinds.ts';
import { stateName } from './hold/ledger.ts';
import { changeFreezes, freezeExceptions, group, maintenanceWindows } from './policy.ts';

const policies = [changeFreezes, maintenanceWindows, freezeExceptions].map(({ plural }) => plural);

const ownConfigMaps = { groups: [''], resources: ['configmaps'], scope: 'own', role: 'events' } as const;

/** What is held is written down where it can't be stripped of its marks. */
const ledgerRights: readonly Permission[] = [
  { ...ownConfigMaps, verbs: ['get', 'patch'], names: [stateName] },
  { ...ownConfigMaps, verbs: ['create'] },
];

/** What the acting half reads and writes. */
export function actingRights(config: Config): readonly Permission[] {
  const everywhere = { scope: 'cluster', role: 'events' } as const;
  const kinds = heldKinds(config);
  return [
    { groups: [group], resources: policies, verbs: ['get', 'list'], ...everywhere },
    { groups: [group], resources: policies.map((plural) => `${plural}/status`), verbs: ['patch'], ...everywhere },
    { groups: [''], resources: ['namespaces'], verbs: ['get', 'list'], ...everywhere },
    ...kinds.map(({ resource }) => ({
      groups: [resource.group],
      resources: [resource.plural],
      verbs: ['get', 'list', 'patch'],
      ...everywhere,
    })),
    ...(kinds.some(({ losesMarks }) => losesMarks === true) ? ledgerRights : []),
    // Events about objects without a namespace live in this one.
    {
      groups: ['events.k8s.io'],
      resources: ['events'],
      verbs: ['create'],
      scope: { namespaces: ['default'] },
      role: 'events',
    },
  ];
}

/** What admission and the query API read and ask, beyond what the acting half may do anyway. */
export function decidingRights({ ROLLBACK_LANE, BREAK_GLASS, API_AUTH_MODE }: Config): readonly Permission[] {
  const everywhere = { scope: 'cluster' } as const;
  const admission = { scope: 'cluster', role: 'admission' } as const;
  const accessReviews = { groups: ['authorization.k8s.io'], resources: ['subjectaccessreviews'], verbs: ['create'] };
  return [
    { groups: [group], resources: policies, verbs: ['list'], ...admission },
    { groups: [''], resources: ['namespaces'], verbs: ['get'], ...admission },
    // The labels of what is scaled, and of what the query API is asked about by name.
    { groups: ['apps'], resources: ['deployments', 'statefulsets'], verbs: ['get'], ...everywhere },
    { groups: ['apps'], resources: ['daemonsets'], verbs: ['get'], ...everywhere },
    { groups: ['batch'], resources: ['cronjobs'], verbs: ['get'], ...admission },
    ...(ROLLBACK_LANE
      ? [{ groups: ['apps'], resources: ['replicasets', 'controllerrevisions'], verbs: ['list'], ...admission }]
      : []),
    // Questions reach both halves, glass is broken in reviews alone.
    ...(API_AUTH_MODE === 'rbac' ? [{ ...accessReviews, ...everywhere }] : []),
    ...(BREAK_GLASS === 'rbac' && API_AUTH_MODE !== 'rbac' ? [{ ...accessReviews, ...admission }] : []),
    ...(API_AUTH_MODE === 'none'
      ? []
      : [{ groups: ['authentication.k8s.io'], resources: ['tokenreviews'], verbs: ['create'], ...everywhere }]),
    // Tells in the namespace of a workload why a change was refused.
    { groups: ['events.k8s.io'], resources: ['events'], verbs: ['create'], ...admission },
  ];
}
