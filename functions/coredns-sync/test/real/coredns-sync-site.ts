import { join } from 'node:path';
import { Config } from '../../config.ts';
import definition from '../../index.ts';
import { permissionsOf } from '../../permissions.ts';
import { coreConfigMap, coreDeployment, corefile } from '../../sandbox/coredns.ts';
import { parseConfig, type Environment } from '../../../../lib/function/config.ts';
import { standardInstallation } from '../../../../lib/install/manifests/installation.ts';
import { createClient, type Body, type Client } from '../../../../lib/sandbox/test/contract/client.ts';
import { expectCode } from '../../../../lib/sandbox/test/contract/scratch.ts';
import { ingressOf, rulesName } from '../world.ts';
import { binaryEvent, send, type Event } from '../../../../test/support/http.ts';
import { startCluster, type Cluster } from '../../../../test/real/parts/cluster.ts';
import type { RealFunction, Shipped } from '../../../../test/real/support/function.ts';
import { applyManifest, patchStatus, type AnyManifest } from '../../../../test/support/manifests.ts';

export const systemConfigMaps = '/api/v1/namespaces/kube-system/configmaps';
export const rulesPath = `${systemConfigMaps}/${rulesName}`;
export const statePath = `/api/v1/namespaces/${standardInstallation.namespace}/configmaps/coredns-sync-state`;
export const ingressesPath = '/apis/networking.k8s.io/v1/namespaces/shop/ingresses';

/** The function as it ships for these settings. */
export function shippedWith(environment: Environment = {}): Shipped {
  const config = parseConfig(Config, environment);
  return {
    definition: { ...definition, permissions: () => permissionsOf(config) },
    folder: join(import.meta.dirname, '../..'),
  };
}

/** Somebody who changes things in a cluster, the sandbox or a real one. */
export interface Changing {
  readonly client: Client;
  readonly apply: (object: AnyManifest) => Promise<Body>;
  readonly read: (path: string) => Promise<Body>;
  readonly merge: (path: string, body: object) => Promise<Body>;
  /** Nothing happens to what is not there. */
  readonly remove: (path: string) => Promise<void>;
  /** Makes the Ingress be so. */
  readonly put: (name: string, hosts: readonly string[], className?: string) => Promise<void>;
  /** What the controllers say when every pod of CoreDNS runs with the newest template. */
  readonly rollOut: () => Promise<void>;
}

/** A control plane with the objects of CoreDNS as kubeadm makes them, and somebody who changes things. */
export interface CoreDnsSyncSite extends Changing, AsyncDisposable {
  readonly cluster: Cluster;
}

export async function openCoreDnsSyncSite(): Promise<CoreDnsSyncSite> {
  await using opened = new AsyncDisposableStack();
  const cluster = opened.use(await startCluster());
  const client = createClient(cluster.access);
  opened.defer(() => client.close());
  const changing = await settleIn(client);
  const site = opened.move();
  return { cluster, ...changing, [Symbol.asyncDispose]: () => site.disposeAsync() };
}

/** Makes the namespaces that the suites use and the Corefile. */
export async function settleIn(client: Client): Promise<Changing> {
  function apply(object: AnyManifest): Promise<Body> {
    return applyManifest(client, object);
  }

  async function read(path: string): Promise<Body> {
    return expectCode(200, await client.call('GET', path));
  }

  async function rollOut(): Promise<void> {
    const { metadata } = await read('/apis/apps/v1/namespaces/kube-system/deployments/coredns');
    const counts = { replicas: 2, updatedReplicas: 2, readyReplicas: 2, availableReplicas: 2 };
    await patchStatus(client, theDeployment, { observedGeneration: metadata?.generation ?? 1, ...counts });
  }

  for (const name of ['shop', 'ingress-nginx', 'infra']) {
    await apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  }
  await apply(theCorefile);
  return {
    ...{ client, apply, read, rollOut },
    merge: async (path, body) => {
      const headers = { 'content-type': 'application/merge-patch+json' };
      return expectCode(200, await client.call('PATCH', path, { body, headers }));
    },
    remove: async (path) => {
      const reply = await client.call('DELETE', path);
      expectCode(reply.code === 404 ? 404 : 200, reply);
    },
    put: async (name, hosts, className = 'nginx') => {
      await apply(manifest('networking.k8s.io/v1', 'Ingress', ingressOf(name, hosts, { className })));
    },
  };
}

export function manifest(apiVersion: string, kind: string, object: object): AnyManifest {
  return { ...object, apiVersion, kind } as AnyManifest;
}

export const theCorefile = manifest('v1', 'ConfigMap', coreConfigMap(corefile));
export const theDeployment = manifest('apps/v1', 'Deployment', coreDeployment);

/** What a source says of an object: it has changed. */
export function changed(about: Omit<Event, 'type' | 'data'>): Event {
  return { type: 'dev.knative.apiserver.ref.update', ...about };
}

export function ingressChanged(name: string): Event {
  return changed({ apiVersion: 'networking.k8s.io/v1', kind: 'Ingress', namespace: 'shop', name });
}

export const ticking: Event = { type: 'dev.knative.sources.ping' };

/** Sends an event that must be taken. */
export async function tell({ url }: Pick<RealFunction, 'url'>, event: Event): Promise<void> {
  const { status, body } = await send(url, binaryEvent(event));
  if (status !== 204) {
    throw new Error(`${event.type} ${event.name ?? ''} was answered ${status}: ${body}`);
  }
}
