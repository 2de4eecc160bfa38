import { defineCommand, type Input } from '../framework/command.ts';
import { clusterOptions } from './cluster-options.ts';

export type DoctorInput = Input<typeof clusterOptions>;

export const doctor = defineCommand({
  name: 'doctor',
  summary: 'find what keeps events from reaching the functions in a cluster, and what to do',
  details: 'It changes nothing.',
  options: clusterOptions,
  positionals: [{ name: 'FUNCTION', about: 'only these (default: all)', repeatable: true, complete: 'function' }],
  examples: [
    { args: '', about: 'all functions, on the cluster that kubectl would use' },
    { args: 'freeze-check -o json', about: 'one function, for a script' },
  ],
  reports: true,
  load: () => import('./doctor-run.ts'),
});
