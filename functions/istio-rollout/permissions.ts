import type { Permission } from '../../lib/function/permissions.ts';
import type { Config } from './config.ts';
import { configName, queueNames, stateName, statusName } from './names.ts';

/** Exactly what the features that are on need. No `watch`, no Secrets, ConfigMaps only where they are known to be. */
export function permissions(config: Config): readonly Permission[] {
  const { ISTIO_NAMESPACES, DRY_RUN, EVENTS_ENABLED, RESPECT_PDB } = config;
  const changes = DRY_RUN ? [] : ['patch'];
  return [
    cluster('', ['namespaces'], ['get', 'list']),
    cluster('admissionregistration.k8s.io', ['mutatingwebhookconfigurations'], ['get', 'list']),
    cluster('', ['pods'], ['list']),
    cluster('apps', ['replicasets', 'controllerrevisions'], ['list']),
    cluster('apps', ['deployments', 'statefulsets', 'daemonsets'], ['get', 'list', ...changes]),
    ...(RESPECT_PDB ? [cluster('policy', ['poddisruptionbudgets'], ['list'])] : []),
    ...(EVENTS_ENABLED && !DRY_RUN ? [cluster('events.k8s.io', ['events'], ['create'])] : []),
    ...optional(config),
    { groups: [''], resources: ['configmaps'], verbs: ['get', 'list'], scope: { namespaces: ISTIO_NAMESPACES } },
    ...ownConfigMaps(),
  ];
}

function optional({
  ARGO_ROLLOUTS,
  DRY_RUN,
  PROBE_MODE,
  ON_DELETE_ACTION,
  UNMANAGED_ACTION,
}: Config): readonly Permission[] {
  const evicts = !DRY_RUN && (ON_DELETE_ACTION === 'evict' || UNMANAGED_ACTION === 'evict');
  return [
    ...(ARGO_ROLLOUTS ? [cluster('argoproj.io', ['rollouts'], ['get', 'list', ...(DRY_RUN ? [] : ['patch'])])] : []),
    ...(PROBE_MODE === 'dryRun' ? [cluster('', ['pods'], ['create'])] : []),
    ...(evicts ? [cluster('', ['pods/eviction'], ['create']), cluster('', ['pods'], ['get'])] : []),
    ...(UNMANAGED_ACTION === 'evict'
      ? [cluster('apps', ['replicasets'], ['get']), cluster('', ['replicationcontrollers'], ['get', 'list'])]
      : []),
  ];
}

function ownConfigMaps(): readonly Permission[] {
  const written = [stateName, statusName, ...queueNames];
  return [
    { groups: [''], resources: ['configmaps'], verbs: ['get'], names: [configName], scope: 'own' },
    { groups: [''], resources: ['configmaps'], verbs: ['get', 'patch'], names: written, scope: 'own' },
    { groups: [''], resources: ['configmaps'], verbs: ['create'], scope: 'own' },
  ];
}

function cluster(group: string, resources: readonly string[], verbs: readonly string[]): Permission {
  return { groups: [group], resources, verbs, scope: 'cluster' };
}
