import { pino } from 'pino';
import { accountAccess, accountsOf, grant } from '../../lib/cli/start/accounts.ts';
import { startCompanions } from '../../lib/cli/start/companion.ts';
import type { Found } from '../../lib/cli/functions.ts';
import { samplesOf } from '../../lib/cli/start/samples.ts';
import { layGround, presentSample, putSample, registerWebhooks } from '../../lib/cli/start/sandbox-world.ts';
import type { Environment } from '../../lib/function/config.ts';
import { standardInstallation } from '../../lib/install/manifests/installation.ts';
import { plainSubscription } from '../../lib/install/manifests/plain.ts';
import { kubeconfigAccess } from '../../lib/kube/access.ts';
import { deployments, type Deployment } from '../../lib/kube/model/resource.ts';
import type { KubeObject } from '../../lib/kube/model/wire.ts';
import { pause } from '../../lib/base/pause.ts';
import { createTransport, type Transport } from '../../lib/kube/transport.ts';
import { serve, type Running } from '../../lib/runtime/main.ts';
import { sharedCertificates } from '../../lib/sandbox/http/certificates.ts';
import { Denial } from '../../lib/sandbox/admission/admission-answer.ts';
import { ApiError } from '../../lib/sandbox/model/status.ts';
import { startSandbox, type Sandbox } from '../../lib/sandbox/sandbox.ts';
import { startSource } from '../../lib/source/source.ts';
import { until } from '../../lib/source/testing/until.ts';
import { binaryEvent, send } from '../support/http.ts';

const { namespace } = standardInstallation;

/** A line of the log. */
export type Logged = Readonly<Record<string, unknown>>;

/** Functions at work on one cluster as `npm start` has it: each under its own account, woken by the event source. */
export interface World extends AsyncDisposable {
  readonly sandbox: Sandbox;
  readonly running: Running;
  readonly logged: readonly Logged[];
  /** Creates or changes all samples of the functions, one after the other. */
  readonly playSamples: () => Promise<void>;
  readonly tickAll: () => Promise<void>;
}

export interface WorldOptions {
  readonly found: readonly Found[];
  readonly settings: Environment;
  /** What is put around the transport of each function. */
  readonly around?: (transport: Transport) => Transport;
}

export async function openWorld({ found, settings, around = (same) => same }: WorldOptions): Promise<World> {
  await using opened = new AsyncDisposableStack();
  const logged: Logged[] = [];
  const log = pino({ level: 'debug' }, { write: (line) => logged.push(JSON.parse(line) as Logged) });
  const definitions = found.map(({ definition }) => definition);
  const sandbox = opened.adopt(await startSandbox({ podReadyMs: 0, rbac: true }), (open) => open.close());
  const certificates = await sharedCertificates();
  const { ca, certificate: cert, key } = certificates;
  await layGround(sandbox.api, { namespace, definitions });
  opened.defer(await startCompanions(found, { api: sandbox.api, certificates, log }));
  await grant(
    sandbox,
    definitions.flatMap((definition) => accountsOf({ definition, settings, namespace })),
  );
  const access = kubeconfigAccess(JSON.stringify(sandbox.kubeconfig));
  const running = opened.adopt(
    await serve({
      definitions,
      environment: { ...settings, PORT: '0', TLS_PORT: '0', POD_NAMESPACE: namespace },
      access,
      transportOf: (name) => around(createTransport(accountAccess(sandbox, { name, namespace }))),
      host: '127.0.0.1',
      tls: { cert, key },
      log,
    }),
    ({ close }) => close(),
  );
  await registerWebhooks(sandbox.api, { namespace, definitions, settings, ca, webhooks: running.tlsUrl });
  const subscriptions = definitions.map((definition) => ({
    ...plainSubscription(definition, standardInstallation, settings),
    sink: new URL(`/${definition.name}`, running.url),
  }));
  const transport = opened.adopt(createTransport(access), ({ close }) => close());
  const quiet = pino({ level: 'silent' });
  opened.adopt(await startSource({ transport, namespace, subscriptions, log: quiet }), ({ close }) => close());
  const kept = opened.move();
  return {
    sandbox,
    running,
    logged,
    playSamples: async () => {
      for (const object of found.flatMap(({ folder }) => samplesOf(folder))) {
        await appear(sandbox, object);
      }
    },
    tickAll: async () => {
      for (const { name } of definitions) {
        const path = `/${name}`;
        await send(new URL(path, running.url), { ...binaryEvent({ type: 'dev.knative.sources.ping' }), path });
      }
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

/** Creates a sample as `npm start` does, or changes it once all workloads run. */
export async function appear({ api }: Sandbox, object: KubeObject): Promise<void> {
  if (presentSample(api, object) !== undefined) {
    await until(() => (api.list(deployments) as readonly Deployment[]).every(isAvailable), 'all workloads run', 30_000);
  }
  for (let tries = 1; !(await isTaken(api, object)); tries += 1) {
    if (tries > 500) {
      throw new Error(`the sandbox does not take the sample ${object.kind ?? ''} ${object.metadata?.name ?? ''}`);
    }
    await pause(10);
  }
}

/** False for a pod whose ServiceAccount does not exist yet: it is created a moment after its namespace. */
async function isTaken(api: Sandbox['api'], object: KubeObject): Promise<boolean> {
  try {
    await putSample(api, object);
    return true;
  } catch (error) {
    if (error instanceof Denial) {
      return true; // the sample of a freeze
    }
    if (error instanceof ApiError && error.code === 403) {
      return false;
    }
    throw error;
  }
}

function isAvailable({ spec, status }: Deployment): boolean {
  return status?.availableReplicas === spec?.replicas;
}
