import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { issueAuthority, issueLeaf, type Issued } from '../../lib/base/x509.ts';
import type { KeyPair } from '../../lib/tls/certificate.ts';

const dayMs = 86_400_000;
let minted = 0;

/** An authority for mounted certificates. Each is one second younger than the one before. */
export function mintAuthority(now: Date, days = 365): Promise<Issued> {
  minted += 1;
  const notBefore = new Date(now.getTime() - dayMs + minted * 1000);
  return issueAuthority(`test-${minted}`, { notBefore, notAfter: new Date(now.getTime() + days * dayMs) });
}

export async function mintPair(
  authority: Issued,
  { now, host, days = 90 }: { readonly now: Date; readonly host: string; readonly days?: number },
): Promise<KeyPair> {
  const validity = { notBefore: new Date(now.getTime() - dayMs), notAfter: new Date(now.getTime() + days * dayMs) };
  const { certificate, key } = await issueLeaf(authority, { dns: [host] }, validity);
  return { cert: certificate, key, ca: authority.certificate };
}

let generations = 0;

/** Mounts a Secret as the kubelet does: a new directory, `..data` renamed over the old link, the old one deleted. */
export function mountPair(directory: string, { cert, key, ca }: KeyPair): void {
  generations += 1;
  const fresh = `..generation-${generations}`;
  mkdirSync(join(directory, fresh), { recursive: true });
  for (const [name, text] of Object.entries({ 'tls.crt': cert, 'tls.key': key, 'ca.crt': ca })) {
    writeFileSync(join(directory, fresh, name), text);
  }
  symlinkSync(fresh, join(directory, '..data_tmp'));
  renameSync(join(directory, '..data_tmp'), join(directory, '..data'));
  rmSync(join(directory, `..generation-${generations - 1}`), { recursive: true, force: true });
}
