import { readFileSync } from 'node:fs';
import type { OutgoingHttpHeaders } from 'node:http';
import type { RequestOptions } from 'node:https';
import { dirname } from 'node:path';
import { KubeConfig } from '@kubernetes/client-node';

/** Finds the cluster and our credentials. Called again every 30 s, because certificates and tokens get renewed. */
export type Access = () => Promise<Reach>;

export interface Reach {
  readonly server: URL;
  readonly tls: Pick<RequestOptions, 'ca' | 'cert' | 'key' | 'servername' | 'rejectUnauthorized'>;
  readonly headers: OutgoingHttpHeaders;
}

/** Access by a kubeconfig file; without one, by the ServiceAccount that Kubernetes mounts into every pod. */
export function clusterAccess(kubeconfigFile?: string): Access {
  const config = new KubeConfig();
  if (kubeconfigFile === undefined) {
    config.loadFromCluster();
  } else {
    config.loadFromFile(kubeconfigFile);
  }
  return accessOf(config, kubeconfigFile ?? 'the service account');
}

/** Access by the text of a kubeconfig. */
export function kubeconfigAccess(text: string): Access {
  const config = new KubeConfig();
  config.loadFromString(text);
  return accessOf(config, 'the given kubeconfig');
}

/** A cluster and the name of its context in the kubeconfig. */
export interface ContextAccess {
  readonly access: Access;
  readonly context: string;
}

/** Merges kubeconfig files as kubectl does: the first entry of each name and the first current context win. */
export function mergedAccess(files: readonly string[]): ContextAccess {
  const config = merged(files.map(loaded));
  return { access: accessOf(config, files.join(', ')), context: config.getCurrentContext() };
}

/** kubectl accepts an empty file, the client package does not. */
function loaded(file: string): KubeConfig {
  const config = new KubeConfig();
  try {
    const text = readFileSync(file, 'utf8');
    config.loadFromString(text.trim() === '' ? '{}' : text);
  } catch (error) {
    throw new Error(`could not read ${file}: ${(error as Error).message}`, { cause: error });
  }
  config.makePathsAbsolute(dirname(file));
  return config;
}

/** The client package's own merge refuses files that share a name. */
function merged(configs: readonly KubeConfig[]): KubeConfig {
  const config = new KubeConfig();
  config.loadFromOptions({
    clusters: firstOfEachName(configs.flatMap(({ clusters }) => clusters)),
    users: firstOfEachName(configs.flatMap(({ users }) => users)),
    contexts: firstOfEachName(configs.flatMap(({ contexts }) => contexts)),
    currentContext: configs.map((each) => each.getCurrentContext()).find(Boolean),
  });
  return config;
}

function firstOfEachName<T extends { readonly name: string }>(entries: readonly T[]): T[] {
  return [...new Map(entries.toReversed().map((entry) => [entry.name, entry])).values()];
}

function accessOf(config: KubeConfig, origin: string): Access {
  const cluster = config.getCurrentCluster();
  if (cluster === null) {
    throw new Error(`could not read ${origin}: it names no current cluster; set its current-context`);
  }
  if (!URL.canParse(cluster.server)) {
    throw new Error(`could not read ${origin}: it names no API server; run in a pod or set KUBECONFIG`);
  }
  const server = new URL(cluster.server);
  return async () => {
    const options: RequestOptions = {};
    await config.applyToHTTPSOptions(options);
    const { ca, cert, key, servername, rejectUnauthorized, headers, auth } = options;
    const basic = typeof auth === 'string' ? { authorization: `Basic ${Buffer.from(auth).toString('base64')}` } : {};
    return {
      server,
      tls: {
        ...(ca === undefined ? {} : { ca }),
        ...(cert === undefined ? {} : { cert }),
        ...(key === undefined ? {} : { key }),
        ...(servername === undefined ? {} : { servername }),
        ...(rejectUnauthorized === undefined ? {} : { rejectUnauthorized }),
      },
      headers: { ...(headers as OutgoingHttpHeaders | undefined), ...basic },
    };
  };
}
