import type { Logger } from 'pino';
import { parseConfig, type Environment } from '../../function/config.ts';
import type { Definition } from '../../function/definition.ts';
import { webhookConfigurations } from '../../install/manifests/webhook.ts';
import { standardInstallation } from '../../install/manifests/installation.ts';
import {
  customResourceDefinitions,
  groupVersion,
  mutatingWebhooks,
  namespaces,
  validatingWebhooks,
} from '../../kube/model/resource.ts';
import type { KubeObject } from '../../kube/model/wire.ts';
import { pause } from '../../base/pause.ts';
import type { InternalApi } from '../../sandbox/model/internal.ts';
import type { Sandbox } from '../../sandbox/sandbox.ts';
import type { Found } from '../functions.ts';
import { samplesOf } from './samples.ts';

export interface Ground {
  /** Where the functions keep their state. */
  readonly namespace: string;
  readonly definitions: readonly Definition[];
}

/** What an installation sets up before its functions run: their namespace and their kinds. */
export async function layGround(api: InternalApi, { namespace, definitions }: Ground): Promise<void> {
  if (api.get(namespaces, namespace) === undefined) {
    await api.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
  }
  for (const kind of definitions.flatMap(({ kinds = [] }) => kinds)) {
    await api.create(customResourceDefinitions, kind);
  }
}

export interface Registered extends Ground {
  readonly settings: Environment;
  /** Of the certificate that the webhooks show. */
  readonly ca: string;
  readonly webhooks: URL | undefined;
}

/** What an installation sets up last: the API asks the functions that admit. */
export async function registerWebhooks(
  api: InternalApi,
  { namespace, definitions, settings, ca, webhooks }: Registered,
): Promise<void> {
  const site = { ...standardInstallation, namespace };
  for (const { name, config, admit } of webhooks === undefined ? [] : definitions) {
    const admissions = admit?.(parseConfig(config, settings, name), site) ?? [];
    for (const configuration of webhookConfigurations(name, admissions, site)) {
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

/** Creates the sample objects one after the other, so that a newcomer sees each reaction. Returns how to stop. */
export function playSamples(sandbox: Sandbox | undefined, found: readonly Found[], log: Logger): () => Promise<void> {
  const stopped = new AbortController();
  const objects = sandbox === undefined ? [] : found.flatMap(({ folder }) => samplesOf(folder));

  async function play({ api }: Sandbox): Promise<void> {
    for (const object of objects) {
      await pause(pauseMs, stopped.signal);
      if (!stopped.signal.aborted) {
        await putSample(api, object).catch((error: unknown) =>
          log.warn({ kind: object.kind, name: object.metadata?.name, reason: String(error) }, 'sample refused'),
        );
      }
    }
  }

  const played = sandbox === undefined ? Promise.resolve() : play(sandbox);
  return () => {
    stopped.abort();
    return played;
  };
}

/** Creates a sample. If the object exists, it becomes as the sample says, so that samples can show changes, too. */
export async function putSample(api: InternalApi, object: KubeObject): Promise<void> {
  const kind = kindOf(api, object);
  const there = presentSample(api, object);
  if (there === undefined) {
    await api.create(kind, object);
  } else {
    await api.update(kind, { ...there, ...object, metadata: { ...there.metadata, ...object.metadata } });
  }
}

/** The object that a sample would change. */
export function presentSample(api: InternalApi, object: KubeObject): KubeObject | undefined {
  return api.get(kindOf(api, object), object.metadata?.name ?? '', object.metadata?.namespace);
}

function kindOf(api: InternalApi, { apiVersion = '', kind = '' }: KubeObject): { group: string; plural: string } {
  const { group } = groupVersion(apiVersion);
  const served = api.kinds().find((candidate) => candidate.group === group && candidate.kind === kind);
  if (served === undefined) {
    throw new Error(`could not create a sample: the sandbox has no ${kind} of ${apiVersion}`);
  }
  return served;
}
