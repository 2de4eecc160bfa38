import type { Operation } from 'fast-json-patch';
import { injectorConfigMap, revisionWebhooks } from '../../functions/istio-rollout/sandbox/istio.ts';
import type { AdmissionResponse } from '../../lib/review/review.ts';
import type { Client } from '../contract/api/client.ts';
import { startInjector, type Injector } from '../injector/injector.ts';
import { configMapChanged, tell, type Instance } from './istio-rollout-site.ts';
import { applyManifest, type AnyManifest } from './manifests.ts';

/** A default revision whose injector behaves as a test likes, for what no istiod could be brought to do. */
export async function startStandIn(client: Client, tag: string): Promise<Injector> {
  const injector = await startInjector({ image: imageOf(tag) });
  await publish(client, tag);
  await applyManifest(client, revisionWebhooks('default', injector.clientConfig) as AnyManifest);
  return injector;
}

/** The ConfigMap that names what the injector injects. */
export async function publish(client: Client, tag: string): Promise<void> {
  await applyManifest(client, injectorConfigMap({ revision: 'default', tag }) as AnyManifest);
}

/** The event about that. */
export async function tellOfUpgrade(instance: Instance): Promise<void> {
  await tell(instance, configMapChanged('istio-sidecar-injector'));
}

export function imageOf(tag: string): string {
  return `docker.io/istio/proxyv2:${tag}`;
}

export type Answer = Omit<AdmissionResponse, 'uid'>;

export function patchOf(operations: readonly Operation[]): Answer {
  const patch = Buffer.from(JSON.stringify(operations)).toString('base64');
  return { allowed: true, patchType: 'JSONPatch', patch };
}
