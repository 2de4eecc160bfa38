import type { Cluster } from '../parts/cluster.ts';
import type { Running } from '../parts/processes.ts';

export interface QueueProxyOptions {
  /** The function behind it. */
  readonly target: URL;
  /** After so long the caller gets 504. */
  readonly timeoutSeconds: number;
  readonly concurrency?: number;
}

export interface QueueProxy {
  readonly url: URL;
  readonly running: Running;
}

/** What stands before every Knative Service. It insists on the ports 8022 and 9090, so there is one on a machine. */
export async function startQueueProxy(
  cluster: Cluster,
  { target, timeoutSeconds, concurrency = 100 }: QueueProxyOptions,
): Promise<QueueProxy> {
  const { base, binary } = cluster.site;
  const port = base + 20;
  const httpGet = { host: '127.0.0.1', path: '/health/readiness', port: Number(target.port), scheme: 'HTTP' };
  const running = await cluster.start({
    command: {
      name: 'queue-proxy',
      file: binary('queue-proxy'),
      args: [],
      env: {
        CONTAINER_CONCURRENCY: String(concurrency),
        QUEUE_SERVING_PORT: String(port),
        QUEUE_SERVING_TLS_PORT: String(port + 1),
        USER_PORT: target.port,
        REVISION_TIMEOUT_SECONDS: String(timeoutSeconds),
        SERVING_LOGGING_CONFIG: '',
        SERVING_LOGGING_LEVEL: 'info',
        SERVING_NAMESPACE: 'kube-reflex',
        SERVING_SERVICE: 'function',
        SERVING_CONFIGURATION: 'function',
        SERVING_REVISION: 'function-00001',
        SERVING_POD: 'function-00001-0',
        SERVING_POD_IP: '127.0.0.1',
        SERVING_READINESS_PROBE: JSON.stringify({ httpGet, successThreshold: 1 }),
      },
    },
    probe: {
      url: `http://127.0.0.1:${port}/`,
      headers: { 'k-network-probe': 'queue', 'user-agent': 'Knative-Activator-Probe' },
      body: /^queue$/,
    },
    port,
  });
  return { url: new URL(`http://127.0.0.1:${port}`), running };
}
