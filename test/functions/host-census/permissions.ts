import type { Permission } from '../../../lib/function/permissions.ts';
import type { Config } from './config.ts';

/** What it lists, and the one ConfigMap that it writes. */
export function permissions({ CONFIG_MAP }: Config): readonly Permission[] {
  return [
    { groups: ['networking.k8s.io'], resources: ['ingresses'], verbs: ['list'], scope: 'cluster', role: 'events' },
    {
      groups: [''],
      resources: ['configmaps'],
      verbs: ['get', 'patch'],
      names: [CONFIG_MAP],
      scope: 'own',
      role: 'events',
    },
    { groups: [''], resources: ['configmaps'], verbs: ['create'], scope: 'own', role: 'events' },
  ];
}
