import type { Permission } from '../../lib/function/define.ts';
import type { Config } from './config.ts';
import { rulesConfigMap, stateConfigMap } from './names.ts';

/** What the reads and writes need; what is switched off asks for nothing. */
export function permissions({ COVERAGE }: Config): readonly Permission[] {
  return [
    { groups: [''], resources: ['nodes'], verbs: ['list'], scope: 'cluster', role: 'events' },
    { groups: [''], resources: ['namespaces'], verbs: ['get', 'list'], scope: 'cluster', role: 'events' },
    ...(COVERAGE
      ? [{ groups: [''], resources: ['pods'], verbs: ['list'], scope: 'cluster' as const, role: 'events' as const }]
      : []),
    own(['configmaps'], ['get'], { names: [rulesConfigMap], role: 'events' }),
    own(['configmaps'], ['get', 'patch'], { names: [stateConfigMap], role: 'events' }),
    own(['configmaps'], ['create'], { role: 'events' }),
    own(['configmaps'], ['get'], { names: [stateConfigMap], role: 'admission' }),
    { groups: ['events.k8s.io'], resources: ['events'], verbs: ['create'], scope: 'own', role: 'events' },
  ];
}

function own(
  resources: readonly string[],
  verbs: readonly string[],
  limits: Pick<Permission, 'names' | 'role'>,
): Permission {
  return { groups: [''], resources, verbs, scope: 'own', ...limits };
}
