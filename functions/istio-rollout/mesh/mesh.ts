import type { Kube } from '../../../lib/kube/client.ts';
import { configMaps, mutatingWebhooks, namespaces } from '../../../lib/kube/model/resource.ts';
import type { KubeObject } from '../../../lib/kube/model/wire.ts';
import { looksBeyondImage, type Config } from '../config.ts';
import { digestOf } from '../../../lib/base/digest.ts';
import { isOwnAnnotation } from '../names.ts';
import type { Known } from '../state/state.ts';
import { controlPlaneOf, isInjectorConfigMap, isMeshConfigMap, type ControlPlane } from './control-plane.ts';
import { lastModified } from './last-modified.ts';
import { webhookSetOf, type WebhookSet } from './webhooks.ts';

/** Everything that decides what is injected where, as the cluster has it now. */
export interface Mesh {
  readonly controlPlanes: Readonly<Record<string, ControlPlane>>;
  /** Those that count as a change; none where only images are looked at. */
  readonly meshConfigs: Readonly<Record<string, Known>>;
  /** Of all of them. */
  readonly meshHash: string;
  readonly webhooks: Readonly<Record<string, WebhookSet>>;
  readonly namespaces: Readonly<Record<string, NamespaceView>>;
}

export interface NamespaceView extends Known {
  readonly labels: Readonly<Record<string, string>>;
  /** Only our own. */
  readonly annotations: Readonly<Record<string, string>>;
  readonly isGone: boolean;
}

export async function readMesh(kube: Kube, config: Config): Promise<Mesh> {
  const [found, hooks, spaces] = await Promise.all([
    Promise.all(config.ISTIO_NAMESPACES.map((namespace) => readConfigMaps(kube, namespace))),
    kube.pick(mutatingWebhooks, {}, (object) => entry(object.metadata?.name, webhookSetOf(object))),
    kube.listMetadata(namespaces),
  ]);
  const objects = found.flat();
  const meshConfigs = Object.fromEntries(
    objects.flatMap(({ ref, meshConfig }) => (meshConfig ? [[ref, meshConfig]] : [])),
  );
  return {
    controlPlanes: Object.fromEntries(
      objects.flatMap(({ ref, controlPlane }) => (controlPlane ? [[ref, controlPlane]] : [])),
    ),
    meshConfigs: looksBeyondImage(config.DRIFT_CHECKS) ? meshConfigs : {},
    meshHash: digestOf(Object.entries(meshConfigs).map(([ref, { hash }]) => [ref, hash])),
    webhooks: Object.fromEntries(hooks.items),
    namespaces: Object.fromEntries(spaces.items.map((object) => [object.metadata.name ?? '', namespaceView(object)])),
  };
}

interface Found {
  readonly ref: string;
  readonly controlPlane?: ControlPlane;
  readonly meshConfig?: Known;
}

async function readConfigMaps(kube: Kube, namespace: string): Promise<readonly Found[]> {
  const { items } = await kube.pick(configMaps, { namespace }, (object): Found | undefined => {
    const name = object.metadata?.name ?? '';
    const ref = `${namespace}/${name}`;
    if (isInjectorConfigMap(name)) {
      return { ref, controlPlane: controlPlaneOf(object) };
    }
    return isMeshConfigMap(name)
      ? { ref, meshConfig: { hash: digestOf(object.data ?? {}), changedAt: lastModified(object) } }
      : undefined;
  });
  return items;
}

function entry<T>(name: string | undefined, value: T | undefined): readonly [string, T] | undefined {
  return name === undefined || value === undefined ? undefined : [name, value];
}

const injectionLabels = ['istio.io/rev', 'istio-injection', 'istio.io/dataplane-mode'];

export function namespaceView(object: KubeObject): NamespaceView {
  const { labels = {}, annotations = {}, deletionTimestamp } = object.metadata ?? {};
  const own = Object.fromEntries(Object.entries(annotations).filter(([name]) => isOwnAnnotation(name)));
  const relevant = Object.fromEntries(injectionLabels.map((label) => [label, labels[label]]));
  return {
    hash: digestOf([relevant, own]).slice(0, 16),
    changedAt: lastModified(object),
    labels,
    annotations: own,
    isGone: deletionTimestamp !== undefined,
  };
}
