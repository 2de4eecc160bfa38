import { injectorConfigMap, revisionWebhooks } from '../../sandbox/istio.ts';
import type { Client } from '../../../../lib/sandbox/test/contract/client.ts';
import { startInjector, type Injector } from '../injector/injector.ts';
import { applyManifest, type AnyManifest } from '../../../../test/support/manifests.ts';

export interface StandInOptions {
  readonly revision: string;
  readonly tag: string;
  /** The pods with this label `app` that it would not have. */
  readonly refuses: string;
}

/** A revision beside that of a real istiod, whose injector refuses what it is asked about without a word: no istiod can be brought to do that. */
export async function startStandIn(client: Client, { revision, tag, refuses }: StandInOptions): Promise<StandIn> {
  const injector = await startInjector({
    revision,
    image: imageOf(tag),
    answer: ({ object, dryRun }) =>
      dryRun === true && object?.metadata?.labels?.['app'] === refuses ? { allowed: false } : undefined,
  });
  async function publish(next: string): Promise<void> {
    await applyManifest(client, injectorConfigMap({ revision, tag: next }) as AnyManifest);
  }
  await publish(tag);
  await applyManifest(client, revisionWebhooks(revision, injector.clientConfig) as AnyManifest);
  return {
    upgrade: async (next) => {
      injector.behave({ image: imageOf(next) });
      await publish(next);
    },
    close: injector.close,
  };
}

export interface StandIn extends Pick<Injector, 'close'> {
  readonly upgrade: (tag: string) => Promise<void>;
}

function imageOf(tag: string): string {
  return `docker.io/istio/proxyv2:${tag}`;
}
