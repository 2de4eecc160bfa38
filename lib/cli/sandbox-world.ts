import type { Definition } from '../function/define.ts';
import { webhookConfigurations } from '../manifests/webhook.ts';
import { standardSite } from '../manifests/manifest.ts';
import { groupVersion, mutatingWebhooks, namespaces, validatingWebhooks } from '../kube/resource.ts';
import type { KubeObject } from '../kube/wire.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import type { Found } from './functions.ts';
import { samplesOf } from './samples.ts';

export interface WorldOptions {
  /** Where the functions keep their state. */
  readonly namespace: string;
  readonly definitions: readonly Definition[];
  /** Of the certificate that the webhooks show. */
  readonly ca: string;
  readonly webhooks: URL | undefined;
}

/** What an installation sets up in a cluster: the namespace of the functions and their webhooks. */
export async function fillSandbox(
  { api }: Sandbox,
  { namespace, definitions, ca, webhooks }: WorldOptions,
): Promise<void> {
  if (api.get(namespaces, namespace) === undefined) {
    await api.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
  }
  for (const { name, admit = [] } of webhooks === undefined ? [] : definitions) {
    for (const configuration of webhookConfigurations(name, admit, { ...standardSite, namespace })) {
      const kind = configuration.kind === 'MutatingWebhookConfiguration' ? mutatingWebhooks : validatingWebhooks;
      await api.create(
        kind,
        reachedBy(configuration, (path) => new URL(`/${name}${path}`, webhooks), ca),
      );
    }
  }
}

interface Webhook {
  readonly clientConfig: { readonly service: { readonly path: string } };
}

/** The same webhooks, called at this process instead of a Service. */
function reachedBy(configuration: KubeObject, urlOf: (path: string) => URL, ca: string): KubeObject {
  const { webhooks = [] } = configuration as { readonly webhooks?: readonly Webhook[] };
  const caBundle = Buffer.from(ca).toString('base64');
  return {
    ...configuration,
    webhooks: webhooks.map((webhook) => ({
      ...webhook,
      clientConfig: { url: urlOf(webhook.clientConfig.service.path).href, caBundle },
    })),
  } as KubeObject;
}

/** Long enough to read a line before the next one. */
const pauseMs = 1_500;

/** Creates the sample objects one after the other, so that a newcomer sees each reaction. */
export async function playSamples(sandbox: Sandbox, found: readonly Found[], stopped: AbortSignal): Promise<void> {
  for (const object of found.flatMap(({ folder }) => samplesOf(folder))) {
    await pause(pauseMs, stopped);
    if (stopped.aborted) {
      return;
    }
    const kind = kindOf(sandbox, object);
    if (sandbox.api.get(kind, object.metadata?.name ?? '', object.metadata?.namespace) === undefined) {
      await sandbox.api.create(kind, object);
    }
  }
}

function kindOf({ api }: Sandbox, { apiVersion = '', kind = '' }: KubeObject): { group: string; plural: string } {
  const { group } = groupVersion(apiVersion);
  const served = api.kinds().find((candidate) => candidate.group === group && candidate.kind === kind);
  if (served === undefined) {
    throw new Error(`create a sample: the sandbox has no ${kind} of ${apiVersion}`);
  }
  return served;
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
