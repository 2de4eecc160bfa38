import { defineCommand, type Input, type Options } from '../framework/command.ts';

const options = {
  port: { value: 'N', about: 'HTTP port of the functions (default: 8080)' },
  'tls-port': { value: 'N', about: 'HTTPS port of their webhooks (default: 9443; with --port the one after it)' },
  'api-port': { value: 'N', about: 'HTTPS port of the sandbox API; plain HTTP is on the next one', default: '8001' },
  kubeconfig: { value: 'FILE', about: 'work on that cluster instead of the sandbox', complete: 'file' },
  'dry-run': { about: 'print what would be written, write nothing' },
} as const satisfies Options;

export type StartInput = Input<typeof options>;

export const start = defineCommand({
  name: 'start',
  summary: 'run functions on a sandbox cluster in this process, or on your cluster',
  details: 'On a terminal it prints lines for people, otherwise JSON lines. LOG_LEVEL=debug prints everything.',
  options,
  positionals: [{ name: 'FUNCTION', about: 'only these (default: all)', repeatable: true, complete: 'function' }],
  examples: [
    { args: '', about: 'all functions on the sandbox' },
    { args: 'coredns-sync --port 9000', about: 'one function, elsewhere' },
    { args: '--kubeconfig FILE --dry-run coredns-sync', about: 'what it would write to your cluster' },
  ],
  load: () => import('./run.ts'),
});
