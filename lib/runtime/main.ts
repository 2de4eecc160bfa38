import type { Logger } from 'pino';
import { openAdmissionPort, type AdmissionPort } from './admission-port.ts';
import type { Environment } from '../function/config.ts';
import type { Definition } from '../function/definition.ts';
import { createBodyReader } from '../http/body.ts';
import { openFront, type Front, type FrontOptions } from '../http/front.ts';
import { createInstance, type Instance } from './instance.ts';
import type { Access } from '../kube/access.ts';
import type { Call } from '../kube/client.ts';
import { createTransport, type Transport } from '../kube/transport.ts';
import { createLog } from '../base/log.ts';
import { createMetrics, type Metrics } from './metrics.ts';
import { ownNamespace } from './own-namespace.ts';
import { readSettings, type ProcessSettings } from '../function/settings.ts';
import { plainSurface } from './surface.ts';
import { version } from '../base/version.ts';

export interface ServeOptions {
  /** A single function is served at `/`, several at `/<function>` each. */
  readonly definitions: readonly Definition[];
  readonly environment: Environment;
  /** Default: KUBECONFIG in the environment, otherwise the pod's ServiceAccount. */
  readonly access?: Access;
  /** The connections of each function, if functions in one process use different accounts. Closed with the process. */
  readonly transportOf?: (name: string) => Transport;
  /** Default: as TLS_MODE says. */
  readonly tls?: { readonly cert: string | Buffer; readonly key: string | Buffer } | undefined;
  /** Default: all interfaces. */
  readonly host?: string | undefined;
  readonly log?: Logger;
  /** The clock of the functions. Default: that of the machine. */
  readonly now?: () => Date;
  /** The clock of the machine. Default: `now`. Set by tests that change `now` but not the clock of the API server. */
  readonly machineNow?: () => Date;
  readonly observe?: (call: Call) => void;
}

/** A running process. */
export interface Running {
  readonly url: URL;
  readonly tlsUrl: URL | undefined;
  readonly metrics: Metrics;
  readonly log: Logger;
  /** How long the process keeps serving after SIGTERM, according to its settings. */
  readonly drainMs: number;
  /** Makes readiness fail at once, serves for `graceMs`, then finishes active work and closes the ports. */
  readonly close: (graceMs?: number) => Promise<void>;
}

/** The bytes of event bodies in memory at once. */
const bodyBudget = 32 * 1024 * 1024;

/**
 * Serves functions in this process, until `close`:
 *
 * ```ts
 * const running = await serve({ definitions: [definition], environment: process.env });
 * await running.close(running.drainMs);
 * ```
 */
export async function serve(options: ServeOptions): Promise<Running> {
  const { settings, log, metrics, transports, instances, closingMs } = prepare(options);
  const { host, tls: given } = options;
  const fronts: Front[] = [];
  let draining = false;

  async function close(graceMs = 0): Promise<void> {
    draining = true;
    await closeFronts(fronts, graceMs);
    await Promise.all(instances.map(({ drain }) => drain()));
    for (const transport of transports) {
      transport.close();
    }
  }

  async function open(front: FrontOptions): Promise<Front> {
    const opened = await openFront({ ...front, closingMs });
    fronts.push(opened);
    return opened;
  }

  /** Why the process is not ready; `undefined` if it is. */
  async function problem(): Promise<string | undefined> {
    const unready = instances.map(({ problem }) => problem()).find((why) => why !== undefined);
    return draining ? 'draining' : (unready ?? (await admission?.problem()));
  }

  let admission: AdmissionPort | undefined;
  try {
    const { url } = await open({ port: settings.PORT, host, answer: plainSurface(instances, { problem, metrics }) });
    admission = await openAdmissionPort(instances, { port: settings.TLS_PORT, host, given, open });
    for (const { start } of instances) {
      start();
    }
    log.info(
      { functions: instances.map(({ name }) => name), urls: fronts.map((front) => front.url.href) },
      'listening',
    );
    return { url, tlsUrl: admission.url, metrics, log, drainMs: settings.DRAIN_SECONDS * 1000, close };
  } catch (error) {
    await close();
    throw error;
  }
}

interface Prepared {
  readonly settings: ProcessSettings;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly transports: readonly Transport[];
  readonly instances: readonly Instance[];
  /** Long enough for every active run to end. */
  readonly closingMs: number;
}

/** Everything except the ports. Throws one error that lists all wrong settings. */
function prepare({ definitions, environment, access, now = () => new Date(), ...options }: ServeOptions): Prepared {
  const { settings, configured } = readSettings(definitions, environment);
  const log = options.log ?? processLog(settings, environment);
  const metrics = createMetrics(version);
  const transports: Transport[] = [];
  function opened(transport: Transport): Transport {
    transports.push(transport);
    return transport;
  }
  const common = opened(createTransport(access ?? lazyAccess(settings.KUBECONFIG)));
  const bodies = createBodyReader(bodyBudget);
  const reviews = { bodies: createBodyReader(settings.MAX_INFLIGHT_BYTES), maxBytes: settings.MAX_BODY_BYTES };
  const namespace = ownNamespace(settings);
  const shared = {
    metrics,
    version,
    bodies,
    reviews,
    namespace,
    now,
    machineNow: options.machineNow,
    observe: options.observe,
  };
  const instances = configured.map((each) => {
    const config = options.tls === undefined ? each.config : withoutCertificate(each.config);
    const { name } = each.definition;
    const transport = options.transportOf === undefined ? common : opened(options.transportOf(name));
    return createInstance({ ...shared, ...each, transport, config, log: log.child({ function: name }) });
  });
  const closingMs = 5_000 + 1000 * Math.max(...configured.map((each) => each.settings.TIMEOUT_SECONDS));
  return { settings, log, metrics, transports, instances, closingMs };
}

/** A certificate that is passed in is not maintained by the function. */
function withoutCertificate(config: unknown): unknown {
  return { ...(config as object), TLS_MODE: 'none' };
}

function processLog({ LOG_LEVEL }: ProcessSettings, environment: Environment): Logger {
  return createLog({ level: LOG_LEVEL, readable: process.stdout.isTTY, revision: environment['K_REVISION'] });
}

/** The entry point of a function's process. Exit code 1 before listening if a setting is wrong, 0 after a drain. */
export async function main(definition: Definition): Promise<void> {
  try {
    const running = await serve({ definitions: [definition], environment: process.env });
    // The process holds nothing that matters, so an uncaught error is logged and the process continues.
    process.on('uncaughtException', (error) => running.log.error({ err: error, failure: 'bug' }, 'uncaught error'));
    process.once('SIGTERM', () => void end(running, running.drainMs));
    process.once('SIGINT', () => void end(running, 0));
  } catch (error) {
    process.stderr.write(`${definition.name}: ${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 1;
  }
}

async function end(running: Running, graceMs: number): Promise<void> {
  await running.close(graceMs);
  process.exit(0);
}

/** Loads the client package at the first call to the cluster instead of at every start. */
function lazyAccess(kubeconfig: string | undefined): Access {
  let access: Access | undefined;
  return async () => {
    const { clusterAccess } = await import('../kube/access.ts');
    access ??= clusterAccess(kubeconfig);
    return access();
  };
}

async function closeFronts(fronts: readonly Front[], graceMs: number): Promise<void> {
  for (const front of fronts) {
    front.wean();
  }
  if (graceMs > 0) {
    await new Promise((resolve) => setTimeout(resolve, graceMs));
  }
  await Promise.all(fronts.map((front) => front.close()));
}
