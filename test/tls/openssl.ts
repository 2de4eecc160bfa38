import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** What openssl prints about a port. */
export interface OpensslJudgement {
  /** Of `s_client`. */
  readonly handshake: string;
  /** Of `verify`, for a server. */
  readonly verification: string;
}

/** Checks a port with another implementation that trusts the same authorities; rejects if it refuses. */
export async function askOpenssl(
  { port, host, trusted }: { readonly port: number; readonly host: string; readonly trusted: string },
  directory: string,
): Promise<OpensslJudgement> {
  const [bundle, leaf] = [join(directory, 'trusted.pem'), join(directory, 'leaf.pem')];
  writeFileSync(bundle, trusted);
  const asked = ['s_client', '-connect', `127.0.0.1:${port}`, '-servername', host, '-verify_hostname', host];
  const handshake = await openssl([...asked, '-CAfile', bundle, '-verify_return_error', '-showcerts']);
  writeFileSync(leaf, /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/.exec(handshake)?.[0] ?? '');
  return { handshake, verification: await openssl(['verify', '-purpose', 'sslserver', '-CAfile', bundle, leaf]) };
}

/** Asynchronous, so that clients in this process continue in the meantime. */
async function openssl(args: readonly string[]): Promise<string> {
  const running = promisify(execFile)('openssl', args);
  running.child.stdin?.end();
  return (await running).stdout;
}
