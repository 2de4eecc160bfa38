import { parseConfig, type Environment } from '../../function/config.ts';
import type { Definition } from '../../function/definition.ts';
import { askedBy, permissionsOf } from '../../install/manifests/function-manifests.ts';
import { standardInstallation } from '../../install/manifests/installation.ts';
import { accountWith } from '../../install/manifests/rights.ts';
import { kubeconfigAccess, type Access } from '../../kube/access.ts';
import type { Manifest } from '../../kube/model/manifest.ts';
import { groupVersion, namespaces } from '../../kube/model/resource.ts';
import { kubeconfigFor } from '../../sandbox/http/kubeconfig.ts';
import type { Sandbox } from '../../sandbox/sandbox.ts';

/** A function with the settings that it runs with, and where. */
export interface Installed {
  readonly definition: Definition;
  readonly settings: Environment;
  readonly namespace: string;
}

/**
 * The account of a function with exactly the rights that its manifests grant. One process is both halves here, so the
 * account `<function>` also gets what `<function>-webhook` has: a right that neither half was granted is refused.
 */
export function accountsOf({ definition, settings, namespace }: Installed): readonly Manifest[] {
  const { name } = definition;
  const config = parseConfig(definition.config, settings, name);
  const { admit, permissions } = askedBy(definition, config, { ...standardInstallation, namespace });
  const events = { kind: 'ServiceAccount', name, namespace };
  const webhook =
    admit.length === 0
      ? []
      : accountWith({ name, part: 'webhook', namespace }, permissionsOf('admission', permissions));
  return [
    ...accountWith({ name, part: 'events', namespace }, permissionsOf('events', permissions)),
    ...webhook.map((manifest) => withSubject(manifest, events)),
  ];
}

function withSubject(manifest: Manifest, subject: object): Manifest {
  const { subjects } = manifest as { readonly subjects?: readonly object[] };
  return subjects === undefined ? manifest : { ...manifest, subjects: [...subjects, subject] };
}

/** Creates what an installation grants. A Role needs its namespace, which in a cluster is there before. */
export async function grant({ api }: Pick<Sandbox, 'api'>, manifests: readonly Manifest[]): Promise<void> {
  for (const { metadata, ...rest } of manifests) {
    const place = metadata.namespace;
    if (place !== undefined && api.get(namespaces, place) === undefined) {
      await api.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: place } });
    }
    const { group } = groupVersion(rest.apiVersion);
    const kind = api.kinds().find((served) => served.group === group && served.kind === rest.kind);
    if (kind === undefined) {
      throw new Error(`could not create ${rest.kind} ${metadata.name}: the sandbox does not serve the kind`);
    }
    await api.create(kind, { ...rest, metadata: { ...metadata } });
  }
}

/** The sandbox as a ServiceAccount sees it, by a token that its API issues. Asked again, it gets a new one. */
export function accountAccess(
  { url, httpUrl, ca }: Sandbox,
  { name, namespace }: { readonly name: string; readonly namespace: string },
): Access {
  const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`;
  const body = JSON.stringify({ apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} });
  return async () => {
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(new URL(path, httpUrl), { method: 'POST', headers, body });
    const { status } = (await response.json()) as { readonly status?: { readonly token?: string } };
    const token = status?.token;
    if (token === undefined) {
      throw new Error(`could not get a token for ${namespace}/${name}: HTTP ${response.status}`);
    }
    return kubeconfigAccess(JSON.stringify(kubeconfigFor({ server: url, ca, token })))();
  };
}
