import type { Environment } from '../../function/config.ts';
import type { Kube } from '../../kube/client.ts';
import { Refusal } from '../../kube/refusal.ts';
import { configMaps, secrets } from '../../kube/model/resource.ts';
import type { KubeObject } from '../../kube/model/wire.ts';

/** The environment of the first container of a workload. */
export interface Variables {
  readonly environment: Environment;
  /** Variables whose values are not visible in the workload. */
  readonly unread: readonly string[];
  /** ConfigMaps and Secrets that may not be read; even the names of their variables are unknown. */
  readonly closed: readonly string[];
}

interface Reference {
  readonly name: string;
  readonly key?: string;
}

interface Single {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: { readonly configMapKeyRef?: Reference; readonly secretKeyRef?: Reference };
}

interface Whole {
  readonly prefix?: string;
  readonly configMapRef?: Reference | undefined;
  readonly secretRef?: Reference | undefined;
}

interface Container {
  readonly env?: readonly Single[];
  readonly envFrom?: readonly Whole[];
}

interface Cluster {
  readonly kube: Kube;
  readonly namespace: string;
}

/** In the order of the kubelet: explicit variables override those from whole objects. */
export async function variablesOf(
  workload: KubeObject,
  { concerned, ...cluster }: Cluster & { readonly concerned: ReadonlySet<string> },
): Promise<Variables> {
  const { env = [], envFrom = [] } = containerOf(workload);
  const concerning = env.filter(({ name }) => concerned.has(name));
  const found = await Promise.all([
    ...envFrom.map((each) => wholeObject(each, cluster)),
    ...concerning.map((each) => singleVariable(each, cluster)),
  ]);
  return {
    environment: Object.assign({}, ...found.map(({ environment }) => environment)) as Environment,
    unread: found.flatMap(({ unread }) => unread),
    closed: found.flatMap(({ closed }) => closed),
  };
}

async function wholeObject({ prefix = '', configMapRef, secretRef }: Whole, cluster: Cluster): Promise<Variables> {
  const values = await valuesIn({ configMap: configMapRef, secret: secretRef }, cluster);
  if (values === undefined) {
    return { environment: {}, unread: [], closed: [describe({ configMapRef, secretRef })] };
  }
  const entries = Object.entries(values).map(([key, value]) => [prefix + key, value] as const);
  return { environment: Object.fromEntries(entries), unread: [], closed: [] };
}

function describe({ configMapRef, secretRef }: Pick<Whole, 'configMapRef' | 'secretRef'>): string {
  return configMapRef === undefined ? `Secret ${secretRef?.name ?? ''}` : `ConfigMap ${configMapRef.name}`;
}

async function singleVariable({ name, value = '', valueFrom }: Single, cluster: Cluster): Promise<Variables> {
  if (valueFrom === undefined) {
    return { environment: { [name]: value }, unread: [], closed: [] };
  }
  const { configMapKeyRef: configMap, secretKeyRef: secret } = valueFrom;
  const values = await valuesIn({ configMap, secret }, cluster);
  const key = (configMap ?? secret)?.key ?? '';
  return values === undefined
    ? { environment: {}, unread: [name], closed: [] }
    : { environment: { [name]: values[key] }, unread: [], closed: [] };
}

function containerOf(workload: KubeObject): Container {
  const { spec } = workload as {
    readonly spec?: { readonly template?: { readonly spec?: { readonly containers?: readonly Container[] } } };
  };
  return spec?.template?.spec?.containers?.[0] ?? {};
}

/** `undefined` if it may not be read, or is neither. */
async function valuesIn(
  { configMap, secret }: { readonly configMap: Reference | undefined; readonly secret: Reference | undefined },
  { kube, namespace }: Cluster,
): Promise<Environment | undefined> {
  try {
    if (configMap !== undefined) {
      return (await kube.get(configMaps, { name: configMap.name, namespace }))?.data ?? {};
    }
    return secret && decoded((await kube.get(secrets, { name: secret.name, namespace }))?.data);
  } catch (error) {
    if (error instanceof Refusal && error.code === 403) {
      return undefined;
    }
    throw error;
  }
}

function decoded(data: Readonly<Record<string, string>> = {}): Environment {
  return Object.fromEntries(
    Object.entries(data).map(([name, value]) => [name, Buffer.from(value, 'base64').toString()]),
  );
}
