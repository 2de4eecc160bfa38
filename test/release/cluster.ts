import type { Definition } from '../../lib/function/definition.ts';
import { kubeconfigAccess } from '../../lib/kube/access.ts';
import { deployments, groupVersion, type Deployment } from '../../lib/kube/model/resource.ts';
import type { KubeObject } from '../../lib/kube/model/wire.ts';
import { renderFunction } from '../../lib/install/manifests/function-manifests.ts';
import { standardInstallation } from '../../lib/install/manifests/installation.ts';
import { plain } from '../../lib/install/manifests/plain.ts';
import type { LeaveOptions, Left } from '../../lib/install/release/leave.ts';
import type { Sandbox } from '../../lib/sandbox/sandbox.ts';
import { lasting } from '../../functions/freeze-check/test/world.ts';
import { leaveBy } from '../support/leaving.ts';

const { namespace } = standardInstallation;

type Settings = Readonly<Record<string, string>>;

/** The manifests of an installation without Knative, with these settings. */
export async function install({ api }: Sandbox, definition: Definition, settings: Settings = {}): Promise<void> {
  const { manifests } = renderFunction(definition, standardInstallation, { platform: plain, environment: settings });
  for (const manifest of manifests) {
    const { group } = groupVersion(manifest.apiVersion);
    const kind = api.kinds().find((served) => served.group === group && served.kind === manifest.kind);
    if (kind !== undefined && api.get(kind, manifest.metadata.name, manifest.metadata.namespace) === undefined) {
      await api.create(kind, manifest);
    }
  }
}

export function leaving(
  { kubeconfig }: Sandbox,
  definition: Definition,
  options: Partial<LeaveOptions> = {},
): Promise<Left> {
  return leaveBy(kubeconfigAccess(JSON.stringify(kubeconfig)), definition, options);
}

/** What comes and goes by itself, and the accounts that worlds make for their replicas. */
const fleeting = new Set([
  'events',
  'leases',
  'pods',
  'replicasets',
  'endpoints',
  'endpointslices',
  'controllerrevisions',
  'serviceaccounts',
]);

/** Everything in the cluster that people would miss or find in their way, by kind and name. */
export function everything({ api }: Sandbox): Record<string, object> {
  const kinds = api.kinds().filter(({ plural }) => !fleeting.has(plural));
  return Object.fromEntries(
    kinds.flatMap((kind) =>
      api.list(kind).map((object) => {
        const { name = '', namespace: place = '' } = object.metadata ?? {};
        return [`${kind.kind} ${place}/${name}`, wishesOf(object)] as const;
      }),
    ),
  );
}

/** What somebody asked for, without what controllers and the API server add. */
function wishesOf(object: KubeObject): object {
  const { status: _status, apiVersion: _version, kind: _kind, ...wishes } = lasting(object) as Deployment;
  return structuredClone(wishes);
}

/** What the manifests brought and `kubectl delete` takes away again. */
function isInstalled(definition: Definition, settings: Settings = {}): (key: string) => boolean {
  const { manifests } = renderFunction(definition, standardInstallation, { platform: plain, environment: settings });
  const keys = new Set(manifests.map(({ kind, metadata }) => `${kind} ${metadata.namespace ?? ''}/${metadata.name}`));
  return (key) => keys.has(key);
}

/** The cluster as its users see it: without what the manifests of the function brought. */
export function usersView(sandbox: Sandbox, definition: Definition, settings: Settings = {}): Record<string, object> {
  const installed = isInstalled(definition, settings);
  return Object.fromEntries(Object.entries(everything(sandbox)).filter(([key]) => !installed(key)));
}

export function deploymentsOf({ api }: Sandbox): readonly string[] {
  return api.list(deployments, { namespace }).map(({ metadata }) => metadata?.name ?? '');
}
