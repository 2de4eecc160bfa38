import { customResourceDefinitions, type CustomResourceDefinition } from '../../../lib/kube/model/resource.ts';
import type { KubeObject } from '../../../lib/kube/model/wire.ts';
import type { Sandbox } from '../../../lib/sandbox/sandbox.ts';

const kinds = [
  { group: 'gateway.networking.k8s.io', version: 'v1', kind: 'Gateway', plural: 'gateways' },
  { group: 'gateway.networking.k8s.io', version: 'v1', kind: 'HTTPRoute', plural: 'httproutes' },
  { group: 'gateway.networking.k8s.io', version: 'v1', kind: 'GRPCRoute', plural: 'grpcroutes' },
  { group: 'gateway.networking.k8s.io', version: 'v1', kind: 'TLSRoute', plural: 'tlsroutes' },
  { group: 'traefik.io', version: 'v1alpha1', kind: 'IngressRoute', plural: 'ingressroutes' },
] as const;

export type RouteKind = (typeof kinds)[number]['kind'];

/** Definitions that take any fields: what these kinds are about is not what is tested here. */
export function definitions(): readonly KubeObject[] {
  return kinds.map(({ group, version, kind, plural }) => {
    const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
    return {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: {
        name: `${plural}.${group}`,
        annotations: { 'api-approved.kubernetes.io': 'unapproved, for tests only' },
      },
      spec: {
        group,
        scope: 'Namespaced',
        names: { plural, kind, singular: kind.toLowerCase(), listKind: `${kind}List` },
        versions: [{ name: version, served: true, storage: true, schema }],
      },
    } as KubeObject;
  });
}

export async function installKinds({ api }: Sandbox): Promise<void> {
  for (const definition of definitions()) {
    await api.create(customResourceDefinitions, definition);
  }
}

export function createRoute({ api }: Sandbox, kind: RouteKind, object: KubeObject): Promise<KubeObject> {
  const found = kinds.find((each) => each.kind === kind) ?? kinds[0];
  return api.create(found, { ...object, apiVersion: `${found.group}/${found.version}`, kind });
}

export function versionOf(kind: RouteKind): string {
  const { group, version } = kinds.find((each) => each.kind === kind) ?? kinds[0];
  return `${group}/${version}`;
}

/** From now on the kind is served in another version only. */
export async function serveOnlyAs({ api }: Sandbox, definition: string, version: string): Promise<void> {
  const object = structuredClone(api.get(customResourceDefinitions, definition)) as CustomResourceDefinition;
  const versions = object.spec.versions.flatMap((each) => [
    { ...each, served: false, storage: false },
    { ...each, name: version, served: true, storage: true },
  ]);
  await api.update(customResourceDefinitions, { ...object, spec: { ...object.spec, versions } } as KubeObject);
}
