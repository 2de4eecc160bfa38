import type { Permission } from '../../lib/function/permissions.ts';
import type { Config } from './config.ts';
import { policyName, rulesConfigMap, stateConfigMap } from './names.ts';

/** What the reads and writes need; what is switched off asks for nothing. */
export function permissions(config: Config): readonly Permission[] {
  return [
    everywhere('', ['nodes'], ['list']),
    everywhere('', ['namespaces'], ['get', 'list']),
    own(['configmaps'], ['get'], { names: [rulesConfigMap], role: 'events' }),
    own(['configmaps'], ['get', 'patch'], { names: [stateConfigMap], role: 'events' }),
    own(['configmaps'], ['create'], { role: 'events' }),
    own(['configmaps'], ['get'], { names: [stateConfigMap], role: 'admission' }),
    { groups: ['events.k8s.io'], resources: ['events'], verbs: ['create'], scope: 'own', role: 'events' },
    ...(config.COVERAGE ? [everywhere('', ['pods'], ['list'])] : []),
    ...(config.MANAGE_WEBHOOK === 'full' ? webhookRights(config) : []),
    ...(config.POLICY ? policyRights() : []),
  ];
}

function webhookRights({ WEBHOOK_CONFIG_NAME }: Config): readonly Permission[] {
  return [
    everywhere(
      'admissionregistration.k8s.io',
      ['mutatingwebhookconfigurations'],
      ['get', 'patch'],
      [WEBHOOK_CONFIG_NAME],
    ),
  ];
}

function policyRights(): readonly Permission[] {
  const kinds = ['mutatingadmissionpolicies', 'mutatingadmissionpolicybindings'];
  return [
    everywhere('admissionregistration.k8s.io', kinds, ['get', 'patch'], [policyName]),
    everywhere('admissionregistration.k8s.io', kinds, ['create']),
  ];
}

function everywhere(
  group: string,
  resources: readonly string[],
  verbs: readonly string[],
  names?: readonly string[],
): Permission {
  return {
    groups: [group],
    resources,
    verbs,
    ...(names === undefined ? {} : { names }),
    scope: 'cluster',
    role: 'events',
  };
}

function own(
  resources: readonly string[],
  verbs: readonly string[],
  limits: Pick<Permission, 'names' | 'role'>,
): Permission {
  return { groups: [''], resources, verbs, scope: 'own', ...limits };
}
