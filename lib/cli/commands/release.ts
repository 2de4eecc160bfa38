import { defineCommand, type Input, type Options } from '../framework/command.ts';
import { clusterOptions } from './cluster-options.ts';

const options = {
  ...clusterOptions,
  set: {
    value: 'NAME=VALUE',
    about: 'a setting of the function that its workload does not show, or no longer',
    repeatable: true,
  },
  patience: { value: 'SECONDS', about: 'how long to wait for rollouts and for pods that end', default: '180' },
  'dry-run': { about: 'only print what it would do' },
} as const satisfies Options;

export type ReleaseInput = Input<typeof options>;

export const release = defineCommand({
  name: 'release',
  summary: 'take a function out of a cluster and restore what it changed there',
  details: 'It may be repeated at any time; if it is interrupted, run it again.',
  options,
  positionals: [{ name: 'FUNCTION', about: 'the function that leaves', required: true, complete: 'function' }],
  examples: [
    { args: 'freeze-check --dry-run', about: 'print what would be done' },
    { args: 'freeze-check', about: 'do it' },
  ],
  reports: true,
  load: () => import('./release-run.ts'),
});
