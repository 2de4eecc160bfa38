import type { Subject } from '../../../lib/function/triggers.ts';
import type { Kube } from '../../../lib/kube/client.ts';
import { configMaps, mutatingWebhooks, namespaces } from '../../../lib/kube/model/resource.ts';
import { looksBeyondImage, type Config } from '../config.ts';
import { digestOf } from '../../../lib/base/digest.ts';
import type { Known, State } from '../state/state.ts';
import { controlPlaneOf, isInjectorConfigMap, isMeshConfigMap } from './control-plane.ts';
import { lastModified } from './last-modified.ts';
import { namespaceView } from './mesh.ts';
import { webhookSetOf } from './webhooks.ts';

/** Puts one object as it is now into a state. */
export type Note = (state: State, now: number) => State;

/** Reads what an event was about. Undefined for an object that has nothing to do with injection. */
export async function readSubject(
  kube: Kube,
  config: Config,
  { kind, namespace, name }: Subject,
): Promise<Note | undefined> {
  switch (kind) {
    case 'ConfigMap':
      return readConfigMap(kube, config, { namespace: namespace ?? '', name });
    case 'MutatingWebhookConfiguration': {
      const object = await kube.get(mutatingWebhooks, { name });
      const found = object === undefined ? undefined : webhookSetOf(object);
      const { injectors: _injectors, ...known } = found ?? { injectors: [] };
      return (state) => ({
        ...state,
        webhooks: put(state.webhooks, name, found === undefined ? undefined : (known as typeof found)),
      });
    }
    case 'Namespace': {
      const object = await kube.get(namespaces, { name });
      const view = object === undefined ? undefined : namespaceView(object);
      return (state, now) => ({
        ...state,
        namespaces: putNamespace(state.namespaces, name, view?.isGone === true ? undefined : view, now),
      });
    }
    default:
      return undefined;
  }
}

async function readConfigMap(
  kube: Kube,
  config: Config,
  { namespace, name }: { readonly namespace: string; readonly name: string },
): Promise<Note | undefined> {
  const isInjectors = isInjectorConfigMap(name);
  if (
    !config.ISTIO_NAMESPACES.includes(namespace) ||
    !(isInjectors || (isMeshConfigMap(name) && looksBeyondImage(config.DRIFT_CHECKS)))
  ) {
    return undefined;
  }
  const object = await kube.get(configMaps, { namespace, name });
  const ref = `${namespace}/${name}`;
  if (isInjectors) {
    const plane = object === undefined ? undefined : controlPlaneOf(object);
    return (state) => ({ ...state, controlPlanes: put(state.controlPlanes, ref, plane) });
  }
  const known =
    object === undefined ? undefined : { hash: digestOf(object.data ?? {}), changedAt: lastModified(object) };
  return (state) => ({ ...state, meshConfigs: put(state.meshConfigs, ref, known) });
}

/** What has the same content stays as it was, its time above all. */
function put<T extends Known>(
  known: Readonly<Record<string, T>>,
  name: string,
  value: T | undefined,
): Readonly<Record<string, T>> {
  if (value === undefined) {
    const { [name]: _gone, ...rest } = known;
    return rest;
  }
  return known[name]?.hash === value.hash ? known : { ...known, [name]: value };
}

function putNamespace(
  known: Readonly<Record<string, Known>>,
  name: string,
  view: Known | undefined,
  now: number,
): Readonly<Record<string, Known>> {
  const before = known[name];
  return put(known, name, view && { hash: view.hash, changedAt: before === undefined ? view.changedAt : now });
}
