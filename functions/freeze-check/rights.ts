import type { Permission } from '../../lib/function/define.ts';
import type { Config } from './config.ts';
import { gitopsKinds } from './hold/kinds.ts';
import { changeFreezes, freezeExceptions, group, maintenanceWindows } from './policy.ts';

const policies = [changeFreezes, maintenanceWindows, freezeExceptions].map(({ plural }) => plural);

/** What the acting half reads and writes. */
export function actingRights({ GITOPS_PROVIDERS }: Config): readonly Permission[] {
  const everywhere = { scope: 'cluster', role: 'events' } as const;
  return [
    { groups: [group], resources: policies, verbs: ['get', 'list'], ...everywhere },
    { groups: [group], resources: policies.map((plural) => `${plural}/status`), verbs: ['patch'], ...everywhere },
    { groups: [''], resources: ['namespaces'], verbs: ['get', 'list'], ...everywhere },
    { groups: ['batch'], resources: ['cronjobs'], verbs: ['get', 'list', 'patch'], ...everywhere },
    ...gitopsKinds(GITOPS_PROVIDERS).map(({ resource }) => ({
      groups: [resource.group],
      resources: [resource.plural],
      verbs: ['get', 'list', 'patch'],
      ...everywhere,
    })),
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
