import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { exampleEnvironment, parseConfig, type Environment } from '../../function/config.ts';
import type { Definition } from '../../function/definition.ts';
import { clusterAccess, kubeconfigAccess, type Access } from '../../kube/access.ts';
import { readOnly } from '../../kube/read-only.ts';
import { createTransport, type Transport } from '../../kube/transport.ts';
import { serve, type Running } from '../../runtime/main.ts';
import { createCertificates } from '../../sandbox/http/certificates.ts';
import { startSandbox, type Sandbox } from '../../sandbox/sandbox.ts';
import { startSource } from '../../source/source.ts';
import { subscriptionOf } from '../../source/subscription.ts';
import { accountAccess, accountsOf, grant } from './accounts.ts';
import { startCompanions } from './companion.ts';
import { chosenFunctions } from '../functions.ts';
import type { StartOptions } from './options.ts';
import type { Output } from './output.ts';
import { layGround, playSamples, registerWebhooks } from './sandbox-world.ts';
import { checkSettings } from './wrong-settings.ts';

const kubeconfigFile = join('.sandbox', 'kubeconfig');

export interface Started {
  readonly running: Running;
  readonly sandbox: Sandbox | undefined;
  readonly close: () => Promise<void>;
}

/** The functions and the event source, on the sandbox or on the cluster of a kubeconfig. */
export async function start(options: StartOptions, environment: Environment, output: Output): Promise<Started> {
  const { log } = output;
  const found = await chosenFunctions(options.functions);
  const definitions = found.map(({ definition }) => definition);
  const opened: (() => unknown)[] = [];

  /** The last that was opened is closed first. */
  async function close(): Promise<void> {
    for (const end of opened.splice(0).reverse()) {
      await end();
    }
  }

  try {
    const settings = settingsOf(definitions, environment, options);
    checkSettings(definitions, settings);
    const sandbox = options.kubeconfig === undefined ? await openSandbox(options) : undefined;
    opened.push(() => sandbox?.close());
    const access = accessTo(sandbox, options);
    const transport = guarded(createTransport(access), options);
    opened.push(transport.close);
    const namespace = environment['POD_NAMESPACE'] ?? (sandbox === undefined ? 'default' : 'kube-reflex');
    const certificates = await createCertificates(new Date());
    const { ca, certificate: cert, key } = certificates;
    if (sandbox !== undefined) {
      await layGround(sandbox.api, { namespace, definitions });
      opened.push(await startCompanions(found, { api: sandbox.api, certificates, log }));
      await grant(
        sandbox,
        definitions.flatMap((definition) => accountsOf({ definition, settings, namespace })),
      );
    }
    const running = await serve({
      definitions,
      environment: { ...settings, POD_NAMESPACE: namespace },
      access,
      transportOf: (name) =>
        guarded(createTransport(sandbox === undefined ? access : accountAccess(sandbox, { name, namespace })), options),
      host: '127.0.0.1',
      tls: { cert, key },
      log,
    });
    opened.push(running.close);
    if (sandbox !== undefined) {
      await registerWebhooks(sandbox.api, { namespace, definitions, settings, ca, webhooks: running.tlsUrl });
    }
    const subscriptions = definitions.map((definition) => ({
      ...subscriptionOf(definition, parseConfig(definition.config, settings, definition.name), { namespace }),
      sink: new URL(`/${definition.name}`, running.url),
    }));
    const source = await startSource({ transport, namespace, subscriptions, log: log.child({ function: 'source' }) });
    opened.push(source.close);
    output.introduce({ options, found, running, sandbox, kubeconfigFile, server: await transport.server() });
    if (sandbox === undefined) {
      log.warn({ server: (await transport.server()).href, dryRun: options.dryRun }, 'working on this cluster');
    }
    opened.push(playSamples(sandbox, found, log));
    return { running, sandbox, close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function openSandbox({ apiPort }: StartOptions): Promise<Sandbox> {
  const sandbox = await startSandbox({ port: apiPort, httpPort: apiPort === 0 ? 0 : apiPort + 1, rbac: true });
  mkdirSync('.sandbox', { recursive: true });
  writeFileSync(kubeconfigFile, JSON.stringify(sandbox.kubeconfig, null, 2), { mode: 0o600 });
  return sandbox;
}

function accessTo(sandbox: Sandbox | undefined, { kubeconfig }: StartOptions): Access {
  return sandbox === undefined ? clusterAccess(kubeconfig) : kubeconfigAccess(JSON.stringify(sandbox.kubeconfig));
}

/** Whatever a function does, a dry run changes nothing. */
function guarded(transport: Transport, { dryRun }: StartOptions): Transport {
  return dryRun ? readOnly(transport) : transport;
}

/** In the sandbox examples stand in for required settings that nobody gave; KUBECONFIG alone never picks a cluster. */
function settingsOf(definitions: readonly Definition[], environment: Environment, options: StartOptions): Environment {
  const { KUBECONFIG: _ignored, ...given } = environment;
  const examples = options.kubeconfig === undefined ? definitions.map((definition) => missing(definition, given)) : [];
  const ports = { PORT: String(options.port), TLS_PORT: String(options.tlsPort) };
  return {
    ...Object.assign({}, ...examples),
    ...given,
    ...ports,
    ...(options.dryRun ? { DRY_RUN: 'true' } : {}),
  } as Environment;
}

function missing({ name, config }: Definition, given: Environment): Environment {
  const prefix = name.replaceAll('-', '_').toUpperCase();
  const examples = Object.entries(exampleEnvironment(config));
  const absent = examples.filter(([key]) => given[key] === undefined && given[`${prefix}_${key}`] === undefined);
  return Object.fromEntries(absent.map(([key, example]) => [`${prefix}_${key}`, example]));
}
