/** The smallest objects that the API server takes. */

export function configMap(name: string, data: Readonly<Record<string, string>> = {}, metadata: object = {}): object {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, ...metadata }, data };
}

export function podSpec(image = 'example.com/app:1'): object {
  return { containers: [{ name: 'app', image }] };
}

export function pod(name: string, metadata: object = {}, spec: object = podSpec()): object {
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name, ...metadata }, spec };
}

export function deployment(name: string, spec: object = {}, metadata: object = {}): object {
  const labels = { app: name };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, ...metadata },
    spec: {
      replicas: 0,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: podSpec() },
      ...spec,
    },
  };
}

export function service(name: string, spec: object = {}): object {
  const ports = [{ name: 'web', port: 80 }];
  return { apiVersion: 'v1', kind: 'Service', metadata: { name }, spec: { selector: { app: name }, ports, ...spec } };
}
