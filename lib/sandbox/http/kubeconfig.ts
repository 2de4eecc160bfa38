/** A kubeconfig for one server and one user. */
export interface Kubeconfig {
  readonly apiVersion: 'v1';
  readonly kind: 'Config';
  readonly clusters: readonly object[];
  readonly users: readonly object[];
  readonly contexts: readonly object[];
  readonly 'current-context': string;
}

export interface Access {
  readonly server: string;
  /** PEM. */
  readonly ca: string;
  readonly token: string;
}

export function kubeconfigFor({ server, ca, token }: Access, name = 'sandbox'): Kubeconfig {
  return {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name, cluster: { server, 'certificate-authority-data': Buffer.from(ca).toString('base64') } }],
    users: [{ name, user: { token } }],
    contexts: [{ name, context: { cluster: name, user: name } }],
    'current-context': name,
  };
}
