import { readFileSync } from 'node:fs';
import type { Logger } from 'pino';
import { parseConfig, type Environment } from './function/config.ts';
import type { Definition } from './function/define.ts';
import { createBodyReader } from './http/body.ts';
import { openFront, type Front } from './http/front.ts';
import { createInstance, type Instance } from './instance.ts';
import type { Access } from './kube/access.ts';
import type { Call } from './kube/client.ts';
import { createTransport } from './kube/transport.ts';
import { createLog } from './log.ts';
import { createMetrics, type Metrics } from './metrics.ts';
import { ProcessSettings, readSettings } from './settings.ts';
import { admissionSurface, plainSurface } from './surface.ts';
import { version } from './version.ts';

export interface ServeOptions {
  /** One function is served at `/`; several at `/<function>` each. */
  readonly definitions: readonly Definition[];
  readonly environment: Environment;
  /** Absent: a KUBECONFIG in the environment, otherwise the pod's own ServiceAccount. */
  readonly access?: Access;
  /** Absent: the files that the settings name. Without either there is no admission listener. */
  readonly tls?: { readonly cert: string | Buffer; readonly key: string | Buffer } | undefined;
  /** Absent: all interfaces. */
  readonly host?: string | undefined;
  readonly log?: Logger;
  readonly now?: () => Date;
  readonly observe?: (call: Call) => void;
}

/** A process at work. */
export interface Running {
  readonly url: URL;
  readonly tlsUrl: URL | undefined;
  readonly metrics: Metrics;
  /** Readiness turns false at once; serving goes on for `graceMs`; then work in flight ends and the ports close. */
  readonly close: (graceMs?: number) => Promise<void>;
}

/** Bodies that may be in memory at once. */
const bodyBudget = 64 * 1024 * 1024;

export async function serve(options: ServeOptions): Promise<Running> {
  const { definitions, environment, host } = options;
  const { settings, configured } = readSettings(definitions, environment);
  const log = options.log ?? processLog(settings, environment);
  const metrics = createMetrics(version);
  const transport = createTransport(options.access ?? lazyAccess(settings.KUBECONFIG));
  const shared = {
    transport,
    metrics,
    version,
    bodies: createBodyReader(bodyBudget),
    namespace: settings.POD_NAMESPACE ?? mountedNamespace() ?? 'default',
    now: options.now ?? (() => new Date()),
    observe: options.observe,
  };
  const instances = configured.map((each) =>
    createInstance({ ...shared, ...each, log: log.child({ function: each.definition.name }) }),
  );

  let ready = true;
  const plain = plainSurface(instances, { ready: () => ready, metrics });
  const front = await openFront({ port: settings.PORT, host, answer: plain });
  const tlsFront = await openAdmission(instances, {
    tls: options.tls ?? keyPairFrom(settings),
    port: settings.TLS_PORT,
    host,
  });
  const fronts = tlsFront === undefined ? [front] : [front, tlsFront];
  log.info({ functions: instances.map(({ name }) => name), urls: fronts.map(({ url }) => url.href) }, 'listening');

  return {
    url: front.url,
    tlsUrl: tlsFront?.url,
    metrics,
    close: async (graceMs = 0) => {
      ready = false;
      log.info('draining');
      await closeFronts(fronts, graceMs);
      await Promise.all(instances.map(({ drain }) => drain()));
      transport.close();
    },
  };
}

/** Without a certificate, or with nothing to admit, there is no TLS listener. */
async function openAdmission(
  instances: readonly Instance[],
  { tls, port, host }: Pick<ServeOptions, 'tls' | 'host'> & { readonly port: number },
): Promise<Front | undefined> {
  const admits = instances.some(({ admissions }) => admissions.size > 0);
  return admits && tls !== undefined ? openFront({ port, host, tls, answer: admissionSurface(instances) }) : undefined;
}

function processLog({ LOG_LEVEL }: ProcessSettings, environment: Environment): Logger {
  return createLog({ level: LOG_LEVEL, readable: process.stdout.isTTY, revision: environment['K_REVISION'] });
}

/** The entry point of a function's own process: exit code 1 before listening if a setting is wrong, 0 after a drain. */
export async function main(definition: Definition): Promise<void> {
  try {
    const running = await serve({ definitions: [definition], environment: process.env });
    const graceMs = parseConfig(ProcessSettings, process.env).DRAIN_SECONDS * 1000;
    process.once('SIGTERM', () => void end(running, graceMs));
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

/** The client package is loaded by the first call to the cluster, not by every start. */
function lazyAccess(kubeconfig: string | undefined): Access {
  let access: Promise<Access> | undefined;
  return async () => {
    access ??= import('./kube/access.ts').then(({ clusterAccess }) => clusterAccess(kubeconfig));
    return (await access)();
  };
}

function mountedNamespace(): string | undefined {
  try {
    return readFileSync('/var/run/secrets/kubernetes.io/serviceaccount/namespace', 'utf8').trim();
  } catch {
    return undefined;
  }
}

function keyPairFrom({ TLS_CERT_FILE, TLS_KEY_FILE }: ProcessSettings): ServeOptions['tls'] {
  if (TLS_CERT_FILE === undefined || TLS_KEY_FILE === undefined) {
    return undefined;
  }
  return { cert: readFileSync(TLS_CERT_FILE), key: readFileSync(TLS_KEY_FILE) };
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
