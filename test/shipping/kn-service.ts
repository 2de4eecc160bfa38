/** What the model below knows of `kn service apply`. */
const known = new Set([
  ...['namespace', 'image', 'label', 'service-account', 'cluster-local', 'scale', 'concurrency-limit', 'timeout'],
  ...['port', 'probe-readiness', 'probe-liveness', 'security-context', 'request', 'env'],
]);

type Flag = readonly [name: string, value: string];

/**
 * The Service that `kn service apply` makes of its flags, with what Serving's webhook fills in: the protocol of a port
 * and the threshold of the readiness probe. It is the whole: what is not among the flags is taken away.
 */
export function knService(name: string, flags: readonly Flag[]): object {
  const strange = flags.filter(([flag]) => !known.has(flag));
  if (strange.length > 0) {
    throw new Error(`what kn makes of these is not known here: ${strange.map(([flag]) => flag).join(', ')}`);
  }

  function one(flag: string): string {
    return flags.find(([given]) => given === flag)?.[1] ?? '';
  }

  function all(flag: string): [string, string][] {
    return flags.filter(([given]) => given === flag).flatMap(([, value]) => value.split(',').map(pairOf));
  }

  const labels = Object.fromEntries(all('label'));
  const [min, max] = one('scale').split('..');
  return {
    apiVersion: 'serving.knative.dev/v1',
    kind: 'Service',
    metadata: {
      name,
      namespace: one('namespace'),
      labels: {
        ...labels,
        ...(flags.some(([flag]) => flag === 'cluster-local')
          ? { 'networking.knative.dev/visibility': 'cluster-local' }
          : {}),
      },
    },
    spec: {
      template: {
        metadata: {
          labels,
          annotations: { 'autoscaling.knative.dev/min-scale': min, 'autoscaling.knative.dev/max-scale': max },
        },
        spec: {
          serviceAccountName: one('service-account'),
          containerConcurrency: Number(one('concurrency-limit')),
          timeoutSeconds: Number(one('timeout')),
          containers: [
            {
              image: one('image'),
              env: all('env').map(([variable, value]) => ({ name: variable, value })),
              ports: [{ containerPort: Number(one('port')), protocol: 'TCP' }],
              readinessProbe: { ...probeOf(one('probe-readiness')), successThreshold: 1 },
              livenessProbe: probeOf(one('probe-liveness')),
              resources: { requests: Object.fromEntries(all('request')) },
              ...(one('security-context') === 'strict' ? { securityContext: strict } : {}),
            },
          ],
        },
      },
    },
  };
}

/** `key=value`. */
export function pairOf(text: string): [string, string] {
  const [key = '', ...value] = text.split('=');
  return [key, value.join('=')];
}

/** `http:host:port:path`; nobody says a host. */
function probeOf(text: string): object {
  const [, port = '', path] = /^http::(\d+):(.+)$/.exec(text) ?? [];
  return { httpGet: { path, port: Number(port) } };
}

/** What kn means by that word. */
const strict = {
  allowPrivilegeEscalation: false,
  runAsNonRoot: true,
  capabilities: { drop: ['ALL'] },
  seccompProfile: { type: 'RuntimeDefault' },
};
