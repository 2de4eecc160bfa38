import { pathToFileURL } from 'node:url';
import { join, resolve } from 'node:path';
import { exists, type Found } from '../../../lib/cli/functions.ts';
import { samplesOf } from '../../../lib/cli/start/samples.ts';
import { standardInstallation } from '../../../lib/install/manifests/installation.ts';
import { webhookConfigurations } from '../../../lib/install/manifests/webhook.ts';
import type { Definition } from '../../../lib/function/definition.ts';
import { mutatingWebhooks, secrets, validatingWebhooks } from '../../../lib/kube/model/resource.ts';
import type { KubeObject } from '../../../lib/kube/model/wire.ts';
import type { ResourceAccess } from '../../../lib/sandbox/access/rbac.ts';
import { until } from '../../../lib/source/testing/until.ts';
import { admissionsOf } from '../functions.ts';
import type { Half } from './needed.ts';
import type { Run, Scenario, Stage } from './stage.ts';

const { namespace } = standardInstallation;

/** What a function is seen to do: its samples, the life of its certificate if it admits, and its own scenario. */
export async function runsOf({ folder, definition }: Found): Promise<readonly Run[]> {
  const certificate = definition.admit === undefined ? [] : [certificateRun(definition)];
  return [samplesRun(folder), ...certificate, ...(await ownRuns(folder))];
}

async function ownRuns(folder: string): Promise<readonly Run[]> {
  const file = resolve(join(folder, 'test', 'rights.ts'));
  if (!(await exists(file))) {
    return [];
  }
  const { scenario } = (await import(pathToFileURL(file).href)) as { readonly scenario: Scenario };
  return scenario.runs;
}

/** The samples come one after the other, are looked at again, and go. */
function samplesRun(folder: string): Run {
  const samples = samplesOf(folder);
  return {
    what: 'its samples',
    play: async (stage) => {
      for (const object of samples) {
        await stage.appear(object);
      }
      await stage.tick();
      for (const object of samples) {
        await stage.notify(object);
      }
      stage.turn(3600);
      await stage.tick();
    },
  };
}

/** The admission half makes a certificate and publishes its authority; the events half repairs, renews and retires. */
function certificateRun(definition: Definition): Run {
  return {
    what: 'the life of its certificate',
    ownCertificate: true,
    settings: { CA_PROPAGATION_SECONDS: '0', CA_RETIRE_SECONDS: '1' },
    play: async (stage) => {
      await register(stage, definition);
      const webhook = await stage.start('webhook');
      const configurations = webhookConfigurations(definition.name, admissionsOf(definition), standardInstallation);
      await until(
        () => configurations.every(({ metadata }) => asked(stage, 'webhook', { verb: 'patch', name: metadata.name })),
        'the webhook half publishes its authority',
        20_000,
      );
      await webhook.close();
      await stage.start('events');
      await stage.tick();
      await register(stage, definition); // somebody wipes the bundle
      await stage.tick();
      await changeSecret(stage, (secret) => ({ ...secret, data: { ...secret.data, 'tls.key': '' } }));
      await stage.tick();
      await removeSecret(stage);
      for (let count = 0; count < 20 && !asked(stage, 'events', { resource: 'endpointslices' }); count += 1) {
        await stage.tick();
        stage.turn(10);
      }
    },
  };
}

function asked(stage: Stage, half: Half, { verb, resource, name }: Partial<ResourceAccess>): boolean {
  return stage
    .calls(half)
    .some(
      (call) =>
        call.verb === (verb ?? call.verb) &&
        call.resource === (resource ?? call.resource) &&
        call.name === (name ?? call.name),
    );
}

/** As shipped: without a bundle. */
async function register({ sandbox }: Stage, definition: Definition): Promise<void> {
  for (const object of webhookConfigurations(definition.name, admissionsOf(definition), standardInstallation)) {
    const kind = object.kind === 'MutatingWebhookConfiguration' ? mutatingWebhooks : validatingWebhooks;
    const there = sandbox.api.get(kind, object.metadata.name);
    await (there === undefined
      ? sandbox.api.create(kind, object)
      : sandbox.api.update(kind, { ...there, webhooks: (object as { webhooks?: unknown }).webhooks } as KubeObject));
  }
}

type Secret = KubeObject & { readonly data?: Readonly<Record<string, string>> };

async function changeSecret({ sandbox: { api } }: Stage, change: (secret: Secret) => Secret): Promise<void> {
  for (const secret of api.list(secrets, { namespace })) {
    await api.update(secrets, change(structuredClone(secret)));
  }
}

async function removeSecret({ sandbox: { api } }: Stage): Promise<void> {
  for (const { metadata } of api.list(secrets, { namespace })) {
    await api.remove(secrets, { name: metadata?.name ?? '', namespace });
  }
}
