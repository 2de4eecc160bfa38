import { randomBytes } from 'node:crypto';
import type { V1PodSpec, V1Toleration } from '@kubernetes/client-node';
import type { KubeObject, Wire } from '../../kube/model/wire.ts';
import type { Attributes } from '../model/attributes.ts';
import type { InternalApi, KindRef } from '../model/internal.ts';
import { type ApiError, forbidden } from '../model/status.ts';
import { at } from '../schema/value.ts';

type PodSpec = Wire<V1PodSpec>;
type Container = PodSpec['containers'][number];
type Toleration = Wire<V1Toleration>;

const serviceAccounts: KindRef = { group: '', plural: 'serviceaccounts' };
const priorityClasses: KindRef = { group: 'scheduling.k8s.io', plural: 'priorityclasses' };
const tokenPath = '/var/run/secrets/kubernetes.io/serviceaccount';
const graceOnFailure = 300;

/** A new pod as the API server's own admission leaves it: account, token volume, tolerations, priority. */
export function admitPod(attributes: Attributes, api: Pick<InternalApi, 'get'>): KubeObject | undefined {
  const { object } = attributes;
  const spec = at(object, 'spec') as PodSpec | undefined;
  if (object === undefined || spec === undefined || !isNewPod(attributes)) {
    return object;
  }
  const account = withAccount(spec, attributes, api);
  return { ...object, ...{ spec: withTolerations(withPriority(account, attributes, api)) } };
}

function isNewPod({ operation, kind, subresource }: Attributes): boolean {
  return operation === 'CREATE' && kind.group === '' && kind.plural === 'pods' && subresource === undefined;
}

function withAccount(spec: PodSpec, attributes: Attributes, api: Pick<InternalApi, 'get'>): PodSpec {
  const { namespace } = attributes;
  const name = [spec.serviceAccountName, spec.serviceAccount].find((each) => each) ?? 'default';
  const account = api.get(serviceAccounts, name, namespace);
  if (account === undefined) {
    const why = `error looking up service account ${namespace}/${name}: serviceaccount "${name}" not found`;
    throw refused(attributes, why);
  }
  const named = { ...spec, serviceAccountName: name, serviceAccount: name };
  const mounts = spec.automountServiceAccountToken ?? at(account, 'automountServiceAccountToken') ?? true;
  return mounts === true ? withToken(named) : named;
}

function withToken(spec: PodSpec): PodSpec {
  if (spec.containers.every(hasToken)) {
    return spec;
  }
  const name = `kube-api-access-${randomBytes(3).toString('hex').slice(0, 5)}`;
  return {
    ...spec,
    volumes: [...(spec.volumes ?? []), tokenVolume(name)],
    containers: spec.containers.map((container) => withMount(container, name)),
    ...(spec.initContainers && {
      initContainers: spec.initContainers.map((container) => withMount(container, name)),
    }),
  };
}

function hasToken({ volumeMounts = [] }: Container): boolean {
  return volumeMounts.some(({ mountPath }) => mountPath === tokenPath);
}

function withMount(container: Container, name: string): Container {
  const mount = { name, readOnly: true, mountPath: tokenPath };
  return hasToken(container) ? container : { ...container, volumeMounts: [...(container.volumeMounts ?? []), mount] };
}

function tokenVolume(name: string): NonNullable<PodSpec['volumes']>[number] {
  const namespace = { path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } };
  return {
    name,
    projected: {
      sources: [
        { serviceAccountToken: { expirationSeconds: 3607, path: 'token' } },
        { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
        { downwardAPI: { items: [namespace] } },
      ],
      defaultMode: 420,
    },
  };
}

function withPriority(spec: PodSpec, attributes: Attributes, api: Pick<InternalApi, 'get'>): PodSpec {
  const { priorityClassName = '' } = spec;
  const found = priorityClassName === '' ? undefined : api.get(priorityClasses, priorityClassName);
  const value = at(found, 'value') ?? systemPriorities[priorityClassName];
  if (priorityClassName !== '' && typeof value !== 'number') {
    throw refused(attributes, `no PriorityClass with name ${priorityClassName} was found`);
  }
  const policy = at(found, 'preemptionPolicy');
  return {
    ...spec,
    priority: typeof value === 'number' ? value : 0,
    preemptionPolicy: typeof policy === 'string' ? policy : 'PreemptLowerPriority',
  };
}

const systemPriorities: Readonly<Record<string, number>> = {
  'system-node-critical': 2_000_001_000,
  'system-cluster-critical': 2_000_000_000,
};

/** A pod stays for five minutes on a node that fails, unless it says otherwise. */
function withTolerations(spec: PodSpec): PodSpec {
  const own = spec.tolerations ?? [];
  const added = ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable']
    .filter((key) => !own.some((toleration) => tolerates(toleration, key)))
    .map((key) => ({ key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: graceOnFailure }) as const);
  return added.length === 0 ? spec : { ...spec, tolerations: [...own, ...added] };
}

function tolerates({ key = '', effect = '' }: Toleration, taint: string): boolean {
  return (key === '' || key === taint) && (effect === '' || effect === 'NoExecute');
}

function refused({ name }: Attributes, why: string): ApiError {
  return forbidden({ group: '', plural: 'pods', name }, why);
}
