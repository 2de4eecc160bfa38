import { once } from 'node:events';
import https from 'node:https';
import { connect, type TLSSocket } from 'node:tls';
import { certificatesIn, isValidAt } from '../../lib/tls/certificate.ts';
import { host, type Replica } from './site.ts';

/** One request by a client that trusts exactly these authorities. */
export async function ask({ port }: Pick<Replica, 'port'>, ca: string, agent?: https.Agent): Promise<number> {
  const options = { host: '127.0.0.1', port, servername: host, ca, agent: agent ?? false };
  const request = https.request(options).end();
  const [response] = (await once(request, 'response')) as [{ statusCode?: number; resume: () => void }];
  response.resume();
  return response.statusCode ?? 0;
}

/** Whether a client that trusts these authorities would accept the replica at that time. */
export async function acceptedAt(now: Date, { port }: Pick<Replica, 'port'>, ca: string): Promise<boolean> {
  const socket = await handshake(port);
  const shown = socket.getPeerX509Certificate();
  socket.destroy();
  return certificatesIn(ca, 'caBundle').some(
    (authority) =>
      isValidAt(authority, now) &&
      shown !== undefined &&
      isValidAt(shown, now) &&
      shown.checkHost(host) === host &&
      shown.checkIssued(authority) &&
      shown.verify(authority.publicKey),
  );
}

/** The certificate that a new connection gets, whether or not it is trusted. */
export async function shownBy({ port }: Pick<Replica, 'port'>): Promise<string> {
  const socket = await handshake(port);
  const { fingerprint256 } = socket.getPeerCertificate();
  socket.destroy();
  return fingerprint256;
}

export async function handshake(port: number, options: { maxVersion?: 'TLSv1.2' } = {}): Promise<TLSSocket> {
  const socket = connect({ host: '127.0.0.1', port, servername: host, rejectUnauthorized: false, ...options });
  await once(socket, 'secureConnect');
  return socket;
}
