import type { KubeObject } from '../../kube/model/wire.ts';
import { stringAt } from '../schema/value.ts';
import { type Cells, countCell, numberCell, objectsAt, textCell, unset } from './cell.ts';

const webhooks: Cells = { Webhooks: countCell('webhooks') };

const bindings: Cells = {
  Role: (binding) => `${stringAt(binding, 'roleRef', 'kind') ?? ''}/${stringAt(binding, 'roleRef', 'name') ?? ''}`,
  Users: (binding) => subjects(binding, 'User').join(', '),
  Groups: (binding) => subjects(binding, 'Group').join(', '),
  ServiceAccounts: (binding) => subjects(binding, 'ServiceAccount').join(', '),
};

const policyBindings: Cells = {
  PolicyName: textCell('', 'spec', 'policyName'),
  ParamRef: (binding) => {
    const name = stringAt(binding, 'spec', 'paramRef', 'name');
    const namespace = stringAt(binding, 'spec', 'paramRef', 'namespace');
    return name === undefined ? unset : `${namespace ?? '*'}/${name}`;
  },
};

export const policy: Readonly<Record<string, Cells>> = {
  'poddisruptionbudgets.policy': {
    'Min Available': textCell('N/A', 'spec', 'minAvailable'),
    'Max Unavailable': textCell('N/A', 'spec', 'maxUnavailable'),
    'Allowed Disruptions': numberCell('status', 'disruptionsAllowed'),
  },
  'rolebindings.rbac.authorization.k8s.io': bindings,
  'clusterrolebindings.rbac.authorization.k8s.io': bindings,
  'mutatingwebhookconfigurations.admissionregistration.k8s.io': webhooks,
  'validatingwebhookconfigurations.admissionregistration.k8s.io': webhooks,
  'validatingadmissionpolicies.admissionregistration.k8s.io': {
    Validations: countCell('spec', 'validations'),
    ParamKind: paramKind,
  },
  'mutatingadmissionpolicies.admissionregistration.k8s.io': {
    Mutations: countCell('spec', 'mutations'),
    ParamKind: paramKind,
  },
  'validatingadmissionpolicybindings.admissionregistration.k8s.io': policyBindings,
  'mutatingadmissionpolicybindings.admissionregistration.k8s.io': policyBindings,
};

function subjects(binding: KubeObject, kind: string): readonly string[] {
  return objectsAt(binding, 'subjects')
    .filter((subject) => subject['kind'] === kind)
    .map(({ name, namespace }) => (kind === 'ServiceAccount' ? `${String(namespace)}/${String(name)}` : String(name)));
}

function paramKind(object: KubeObject): string {
  const kind = stringAt(object, 'spec', 'paramKind', 'kind');
  return kind === undefined ? unset : `${stringAt(object, 'spec', 'paramKind', 'apiVersion') ?? ''}/${kind}`;
}
