import {
  customResourceDefinitions,
  groupVersion,
  guessedPlural,
  type Resource,
} from '../../lib/kube/model/resource.ts';
import { standardInstallation } from '../../lib/install/manifests/installation.ts';
import type { Manifest } from '../../lib/kube/model/manifest.ts';
import { issueAuthority, issueLeaf } from '../../lib/base/x509.ts';

const { namespace } = standardInstallation;

/** Where an installation goes. */
interface Ground {
  readonly apply: (object: Manifest, subresource?: 'status') => Promise<void>;
}

export function resourceOf({ apiVersion, kind, metadata }: Manifest): Resource {
  const place = { kind, plural: guessedPlural(kind), namespaced: metadata.namespace !== undefined };
  return { ...groupVersion(apiVersion), ...place };
}

/** As an installation that works: what controllers and the function itself would have added is there. */
export async function install({ apply }: Ground, manifests: readonly Manifest[]): Promise<void> {
  for (const manifest of manifests) {
    await apply(manifest);
    if (manifest.kind === 'Deployment' || manifest.apiVersion.includes('knative')) {
      const type = manifest.kind === 'Deployment' ? 'Available' : 'Ready';
      await apply(withCondition(manifest, { type, status: 'True', reason: '', message: '' }), 'status');
    }
  }
  await apply(behind);
  await certify({ apply }, manifests, await certificates());
}

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
}

export function withCondition({ apiVersion, kind, metadata }: Manifest, condition: Condition): Manifest {
  const lastTransitionTime = new Date().toISOString();
  return { apiVersion, kind, metadata, status: { conditions: [{ ...condition, lastTransitionTime }] } };
}

/** What the controllers write when a replica of the admission half is ready. */
export const behind: Manifest = {
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  metadata: {
    name: 'host-census-webhook',
    namespace,
    labels: { 'kubernetes.io/service-name': 'host-census-webhook' },
  },
  addressType: 'IPv4',
  endpoints: [{ addresses: ['10.0.0.1'], conditions: { ready: true } }],
  ports: [{ name: 'https', port: 9443, protocol: 'TCP' }],
};

export interface Certificates {
  readonly ca: string;
  readonly certificate: string;
  readonly key: string;
}

/** What the API server would accept from the webhook. */
export async function certificates(): Promise<Certificates> {
  const now = Date.now();
  const validity = { notBefore: new Date(now - 1000), notAfter: new Date(now + 86_400_000) };
  const authority = await issueAuthority('doctor-test', validity);
  const names = { dns: [`host-census-webhook.${namespace}.svc`], ip: [] };
  return { ca: authority.certificate, ...(await issueLeaf(authority, names, validity)) };
}

export async function certify(
  { apply }: Ground,
  manifests: readonly Manifest[],
  { ca, certificate, key }: Certificates,
): Promise<void> {
  await apply({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'host-census-certificates', namespace },
    data: { 'tls.crt': base64(certificate), 'tls.key': base64(key) },
  });
  for (const configuration of manifests.filter(({ kind }) => kind.endsWith('WebhookConfiguration'))) {
    const { webhooks } = configuration as Manifest & {
      readonly webhooks: readonly { readonly clientConfig: object }[];
    };
    const trusting = webhooks.map((webhook) => ({
      ...webhook,
      clientConfig: { ...webhook.clientConfig, caBundle: base64(ca) },
    }));
    await apply({ ...configuration, webhooks: trusting });
  }
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}

/** Knative's kinds, as loose as can be. */
export function standIns(manifests: readonly Manifest[]): Manifest[] {
  const kinds = new Map(
    manifests.filter(({ apiVersion }) => apiVersion.includes('knative')).map((each) => [each.kind, each]),
  );
  return [...kinds.values()].map((manifest) => {
    const { group, version, kind, plural } = resourceOf(manifest);
    const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
    return {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: customResourceDefinitions.kind,
      metadata: { name: `${plural}.${group}` },
      spec: {
        group,
        scope: 'Namespaced',
        names: { kind, plural },
        versions: [{ name: version, served: true, storage: true, schema, subresources: { status: {} } }],
      },
    };
  });
}
