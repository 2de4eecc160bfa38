import { connect, createSecureContext, type SecureContext, type TLSSocket } from 'node:tls';

/** Where a webhook answers. */
export interface WebhookTarget {
  /** `https://host[:port]/path`; the host is what the certificate must name unless `serverName` is given. */
  readonly url: string;
  /** PEM certificates that the webhook's certificate must lead to; without it the system's are trusted. */
  readonly ca?: string;
  readonly serverName?: string;
  /** Dialled in place of the URL's host and port, as an API server does with the address of a Service. */
  readonly address?: { readonly host: string; readonly port: number };
}

/** What a connection speaks, in order of preference. */
export type Protocols = readonly ('h2' | 'http/1.1')[];

/** Opens connections to one webhook, and ends them all; then it opens no more. */
export interface Dialler {
  /** Resolves when the certificate has been verified: nothing is sent to a stranger. */
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
    socket.on('error', reject); // stays: an error between two requests is nobody's
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

/** Made once: every connection ends, and the stack of an error that nobody sees costs more than a call. */
const closed = new Error('EOF');

interface Place {
  readonly host: string;
  readonly port: number;
  readonly servername?: string;
}

/** An address is not sent as a server name (RFC 6066); the certificate is then checked against the address dialled. */
function placeOf({ url, serverName, address }: WebhookTarget): Place {
  const { hostname, port } = new URL(url);
  const host = hostname.replace(/^\[|\]$/g, '');
  const name = serverName ?? host;
  return {
    ...(address ?? { host, port: port === '' ? 443 : Number(port) }),
    ...(!/^[\d.]+$|:/.test(name) && { servername: name }),
  };
}
