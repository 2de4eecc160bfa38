import type { Definition, Kept } from '../../function/definition.ts';
import type { DeleteStep, Target } from '../../kube/model/plan.ts';
import type { Kube } from '../../kube/client.ts';
import { Refusal } from '../../kube/refusal.ts';
import { deployments, groupVersion, guessedPlural, pods, type Resource } from '../../kube/model/resource.ts';
import type { KubeObject } from '../../kube/model/wire.ts';
import { askedBy, knative, renderFunction } from '../manifests/function-manifests.ts';
import { knativeServices } from '../manifests/installed.ts';
import { partName } from '../../function/names.ts';
import { standardInstallation } from '../manifests/installation.ts';
import type { Manifest } from '../../kube/model/manifest.ts';
import type { TlsConfig } from '../../tls/settings.ts';
import { targetsOf } from '../../tls/webhooks.ts';
import { withdrawStep } from '../../tls/withdraw.ts';
import type { Environment } from '../../function/config.ts';

/** A function in the cluster that it leaves. */
export interface Leaver {
  readonly definition: Definition;
  readonly config: unknown;
  readonly environment: Environment;
  readonly namespace: string;
  readonly kube: Kube;
}

/** Removes our webhooks, so that the API server no longer calls the function. */
export async function stopAsking({ definition, config, namespace, kube }: Leaver): Promise<readonly never[]> {
  const { name } = definition;
  const { admit } = askedBy(definition, config, { ...standardInstallation, namespace });
  const { WEBHOOK_SERVICE: service = partName(name, 'webhook') } = config as Partial<TlsConfig>;
  const owner = { name, service, namespace };
  for (const target of targetsOf(name, admit)) {
    const configuration = await kube.get(target.resource, { name: target.name });
    const step = configuration && withdrawStep(configuration, { target, owner });
    await kube.run({ steps: step === undefined ? [] : [step] });
  }
  return [];
}

/**
 * The Knative Triggers that send it events and ticks. The source of deploy/plain has no receiver any more once the
 * workload is gone.
 */
export function wakersOf({ definition, environment, namespace }: Leaver): readonly Target[] {
  const site = { ...standardInstallation, namespace };
  const { manifests } = renderFunction(definition, site, { platform: knative, environment });
  return manifests.filter(({ kind }) => kind === 'Trigger').map(targetOf);
}

function targetOf({ apiVersion, kind, metadata: { name, namespace } }: Manifest): Target {
  const namespaced = namespace !== undefined;
  const resource: Resource = { ...groupVersion(apiVersion), kind, plural: guessedPlural(kind), namespaced };
  return { resource, name, ...(namespaced ? { namespace } : {}) };
}

/** Everything that runs its code. */
export function workloadsOf({ definition: { name }, namespace }: Leaver): readonly Target[] {
  return [
    { resource: knativeServices, name, namespace },
    { resource: deployments, name, namespace },
    { resource: deployments, name: partName(name, 'webhook'), namespace },
  ];
}

/** Pods that still run. Even a terminating pod may write: when it drains, it does its work for later. */
export async function runningPods({ definition: { name }, namespace, kube }: Leaver): Promise<readonly string[]> {
  const labelSelector = `app.kubernetes.io/part-of=kube-reflex,app.kubernetes.io/name=${name}`;
  const { items } = await kube.listMetadata(pods, { namespace, labelSelector });
  return items.map(({ metadata }) => `Pod ${metadata.name ?? ''} still runs`);
}

/** Deletes the targets that exist now; one with a `mark` only if it carries that annotation. */
export async function remove({ kube }: Leaver, targets: readonly Kept[]): Promise<readonly never[]> {
  for (const { target, metadata } of await present(kube, targets)) {
    const { mark, ...place } = target;
    if (mark === undefined || metadata.annotations?.[mark] !== undefined) {
      const step: DeleteStep = {
        do: 'delete',
        ...place,
        uid: metadata.uid ?? '',
        why: 'the function leaves the cluster',
      };
      await kube.run({ steps: [step] });
    }
  }
  return [];
}

/** The removed objects that exist again. */
export async function returned({ kube }: Leaver, targets: readonly Target[]): Promise<readonly string[]> {
  return (await present(kube, targets)).map(
    ({ target: { resource, name } }) =>
      `${resource.kind} ${name} is back: something installs it again, such as Argo CD or Flux; take it out there first`,
  );
}

interface Present {
  readonly target: Kept;
  readonly metadata: NonNullable<KubeObject['metadata']>;
}

async function present(kube: Kube, targets: readonly Kept[]): Promise<readonly Present[]> {
  const found = await Promise.all(targets.map(async (target) => ({ target, object: await find(kube, target) })));
  return found.flatMap(({ target, object }) =>
    object === undefined ? [] : [{ target, metadata: object.metadata ?? {} }],
  );
}

/** A kind that the cluster does not serve has no objects: an older API server answers 404, the sandbox 501. */
async function find(kube: Kube, target: Target): Promise<KubeObject | undefined> {
  try {
    return await kube.get(target.resource, target);
  } catch (error) {
    if (error instanceof Refusal && error.code === 501) {
      return undefined;
    }
    throw error;
  }
}
