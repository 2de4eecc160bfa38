import { parseArgs } from 'node:util';

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

export const usage = `npm start -- [function…] [options]

  --port N            HTTP port of the functions (8080)
  --tls-port N        HTTPS port of their webhooks (9443; with --port the one after it)
  --api-port N        HTTPS port of the sandbox API (8001); plain HTTP is on the next one
  --kubeconfig FILE   work on that cluster instead of the sandbox
  --dry-run           print what would be written, write nothing
  --help              this text`;

/** Reads the command line. Throws with what is wrong; `help` when it was asked for. */
export function parseStartOptions(args: readonly string[]): StartOptions | 'help' {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      port: { type: 'string' },
      'tls-port': { type: 'string' },
      'api-port': { type: 'string', default: '8001' },
      kubeconfig: { type: 'string' },
      'dry-run': { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    return 'help';
  }
  return {
    functions: positionals,
    ...portsOf(values.port, values['tls-port']),
    apiPort: portOf('api-port', values['api-port']),
    ...(values.kubeconfig === undefined ? {} : { kubeconfig: values.kubeconfig }),
    dryRun: values['dry-run'],
  };
}

/** Whoever moves the one moves the other along, so that two of us can run side by side. */
function portsOf(given: string | undefined, givenTls: string | undefined): Pick<StartOptions, 'port' | 'tlsPort'> {
  const port = portOf('port', given ?? '8080');
  const next = port === 0 ? 0 : port + 1;
  return { port, tlsPort: givenTls === undefined ? (given === undefined ? 9443 : next) : portOf('tls-port', givenTls) };
}

function portOf(option: string, text: string): number {
  const port = Number(text);
  if (!/^\d+$/.test(text) || port > 65_534) {
    throw new Error(`--${option} must be a port from 0 to 65534, got ${JSON.stringify(text)}`);
  }
  return port;
}
