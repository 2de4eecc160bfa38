import { CommandError } from '../framework/errors.ts';
import type { StartOptions } from './options.ts';

interface ListenError extends Error {
  readonly code?: string;
  readonly port?: number;
}

/** An error about a taken port as one that says what the port is for and how to move it; any other as it is. */
export function explained(error: unknown, options: StartOptions): unknown {
  const port = takenPort(error);
  const use = port === undefined ? undefined : uses(options).find((each) => each.port === port);
  return use === undefined
    ? error
    : new CommandError(1, `port ${use.port} is taken, which is for ${use.what}; choose another with ${use.flag} N`, {
        cause: error,
      });
}

function uses({ port, tlsPort, apiPort }: StartOptions): { port: number; what: string; flag: string }[] {
  return [
    { port, what: 'HTTP of the functions', flag: '--port' },
    { port: tlsPort, what: 'HTTPS of the webhooks', flag: '--tls-port' },
    { port: apiPort, what: 'HTTPS of the sandbox API', flag: '--api-port' },
    { port: apiPort + 1, what: 'plain HTTP of the sandbox API, the port after --api-port', flag: '--api-port' },
  ];
}

function takenPort(error: unknown): number | undefined {
  if (!(error instanceof Error)) {
    return undefined;
  }
  const { code, port, cause } = error as ListenError;
  return code === 'EADDRINUSE' ? port : takenPort(cause);
}
