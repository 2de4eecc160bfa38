import { startSandbox } from '../../lib/sandbox/sandbox.ts';

/** An API server with all rights enforced, and a client for its administrator. */
export interface Backend {
  readonly name: 'sandbox' | 'real';
  readonly access: { readonly url: string; readonly ca: string; readonly token: string };
  readonly close: () => Promise<void>;
}

/** `npm run test:real` sets the variable WORLD. */
export function openBackend(): Promise<Backend> {
  return process.env['WORLD'] === 'real' ? openReal() : openSandbox();
}

async function openSandbox(): Promise<Backend> {
  const sandbox = await startSandbox({ rbac: true });
  const { url, ca, adminToken: token } = sandbox;
  return { name: 'sandbox', access: { url, ca, token }, close: () => sandbox.close() };
}

async function openReal(): Promise<Backend> {
  const { startCluster } = await import('../real/parts/cluster.ts');
  const cluster = await startCluster({ parts: ['kube-controller-manager'] });
  return { name: 'real', access: cluster.access, close: () => cluster.stop() };
}
