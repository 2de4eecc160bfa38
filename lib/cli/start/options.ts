import { accessSync, constants } from 'node:fs';
import { UsageError } from '../framework/errors.ts';
import type { StartInput } from './command.ts';

export interface StartOptions {
  /** Only these functions; empty: all. */
  readonly functions: readonly string[];
  /** HTTP port of the functions. */
  readonly port: number;
  /** HTTPS port of their admission webhooks: the one after `port` where only that is given. */
  readonly tlsPort: number;
  /** HTTPS port of the sandbox API; plain HTTP is on the next one. */
  readonly apiPort: number;
  /** A cluster to work on in place of the sandbox. */
  readonly kubeconfig?: string;
  /** Functions write nothing, whatever they are. */
  readonly dryRun: boolean;
}

/** Reads the command line. Throws with what is wrong. */
export function startOptions({ options, positionals }: Pick<StartInput, 'options' | 'positionals'>): StartOptions {
  return {
    functions: positionals,
    ...portsOf(options.port, options['tls-port']),
    apiPort: portOf('api-port', options['api-port']),
    ...(options.kubeconfig === undefined ? {} : { kubeconfig: readableFile(options.kubeconfig) }),
    dryRun: options['dry-run'],
  };
}

function readableFile(file: string): string {
  try {
    accessSync(file, constants.R_OK);
    return file;
  } catch (error) {
    throw new UsageError(`could not read the kubeconfig ${file}: ${(error as Error).message}`, { cause: error });
  }
}

/** Moving the one moves the other along, so that two can run side by side. */
function portsOf(given: string | undefined, givenTls: string | undefined): Pick<StartOptions, 'port' | 'tlsPort'> {
  const port = portOf('port', given ?? '8080');
  const next = port === 0 ? 0 : port + 1;
  return { port, tlsPort: givenTls === undefined ? (given === undefined ? 9443 : next) : portOf('tls-port', givenTls) };
}

function portOf(option: string, text: string): number {
  const port = Number(text);
  if (!/^\d+$/.test(text) || port > 65_534) {
    throw new UsageError(`--${option} must be a port from 0 to 65534, got ${JSON.stringify(text)}`);
  }
  return port;
}
