import { generateKeyPairSync } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stagesText } from './stages.ts';

export const adminToken = 'real-parts-admin';

/** Writes what the parts read at start: tokens, a signing key, an audit policy, KWOK's stages. */
export function prepareSite(directory: string): void {
  mkdirSync(directory, { recursive: true });
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  write('sa.key', privateKey.export({ type: 'pkcs1', format: 'pem' }).toString());
  write('sa.pub', publicKey.export({ type: 'spki', format: 'pem' }).toString());
  write('tokens.csv', `${adminToken},admin,1,system:masters\n`);
  write('audit-policy.json', JSON.stringify(auditPolicy));
  write('stages.yaml', stagesText);
  function write(name: string, text: string): void {
    writeFileSync(join(directory, name), text, { mode: 0o600 });
  }
}

const auditPolicy = {
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  omitStages: ['RequestReceived'],
  rules: [{ level: 'Metadata' }],
};

export interface Access {
  readonly url: string;
  readonly ca: string;
  readonly token: string;
}

/** A kubeconfig is YAML, of which JSON is a part. */
export function kubeconfigText({ url, ca, token }: Access, impersonate?: { readonly user: string }): string {
  const user = {
    token,
    ...(impersonate === undefined ? {} : { as: impersonate.user, 'as-groups': ['system:masters'] }),
  };
  const trust = url.startsWith('https:')
    ? { 'certificate-authority-data': Buffer.from(ca).toString('base64') }
    : { 'insecure-skip-tls-verify': true }; // a proxy of this machine; the client requires this setting
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'real',
    contexts: [{ name: 'real', context: { cluster: 'real', user: 'admin' } }],
    clusters: [{ name: 'real', cluster: { server: url, ...trust } }],
    users: [{ name: 'admin', user }],
  };
  return `${JSON.stringify(config, undefined, 2)}\n`;
}
