import { connect, createSecureContext, type SecureContext, type TLSSocket } from 'node:tls';

/** The address of a webhook. */
export interface WebhookTarget {
  /** `https://host[:port]/path`. The certificate must be for this host, unless `serverName` is given. */
  readonly url: string;
  /** PEM certificates that must vouch for the webhook's; by default, those of the system. */
  readonly ca?: string;
  readonly serverName?: string;
  /** Connect here instead of to the URL's host and port, as an API server does with a Service. */
  readonly address?: { readonly host: string; readonly port: number };
}

/** The protocols to offer, in order of preference. */
export type Protocols = readonly ('h2' | 'http/1.1')[];

/** Opens connections to one webhook until it is closed, which ends them all. */
export interface Dialler {
  /** Resolves after the certificate is verified, so nothing is sent to an unverified server. */
  readonly dial: (protocols: Protocols) => Promise<TLSSocket>;
  readonly close: () => void;
}

export function createDialler(target: WebhookTarget, connectMs: number): Dialler {
  const { ca } = target;
  const place = placeOf(target);
  const sockets = new Set<TLSSocket>();
  let secureContext: SecureContext | undefined;
  let isClosed = false;

  function dial(protocols: Protocols): Promise<TLSSocket> {
    if (isClosed) {
      return Promise.reject(closed);
    }
    secureContext ??= createSecureContext(ca === undefined ? {} : { ca });
    const socket = connect({ ...place, secureContext, ALPNProtocols: [...protocols] });
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    return connected(socket, place, connectMs);
  }

  return {
    dial,
    close: () => {
      isClosed = true;
      for (const socket of sockets) {
        socket.destroy();
      }
    },
  };
}

function connected(socket: TLSSocket, { host, port }: Place, connectMs: number): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => socket.destroy(new Error(`dial tcp ${host}:${port}: i/o timeout`)), connectMs);
    socket.on('error', reject); // stays, because an error between two requests has no other listener
    socket.once('close', () => {
      clearTimeout(timer);
      reject(closed);
    });
    socket.once('secureConnect', () => {
      clearTimeout(timer);
      resolve(socket);
    });
  });
}

/** Shared, because creating an error's stack for every closed connection costs more than a call. */
const closed = new Error('EOF');

interface Place {
  readonly host: string;
  readonly port: number;
  readonly servername?: string;
}

/** An IP address is not sent as a server name (RFC 6066); then the certificate must be for the address itself. */
function placeOf({ url, serverName, address }: WebhookTarget): Place {
  const { hostname, port } = new URL(url);
  const host = hostname.replace(/^\[|\]$/g, '');
  const name = serverName ?? host;
  return {
    ...(address ?? { host, port: port === '' ? 443 : Number(port) }),
    ...(!/^[\d.]+$|:/.test(name) && { servername: name }),
  };
}
