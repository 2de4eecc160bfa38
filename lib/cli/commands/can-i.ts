import { defineCommand, type Input, type Options } from '../framework/command.ts';

const kinds = ['Deployment', 'StatefulSet', 'DaemonSet', 'CronJob'] as const;
const actions = ['CREATE', 'DELETE', 'ROLL_OUT', 'SCALE'] as const;

const options = {
  namespace: { short: 'n', value: 'NAMESPACE', about: 'where the workload is', required: true },
  kind: { short: 'k', value: 'KIND', about: kinds.join(', '), required: true, complete: kinds },
  action: { short: 'a', value: 'ACTION', about: actions.join(', '), required: true, complete: actions },
  name: { value: 'NAME', about: 'a workload whose labels count' },
  at: { value: 'TIME', about: 'another time than now, such as 2026-12-24T10:00:00Z' },
  filename: {
    short: 'f',
    value: 'FILE',
    about: 'policies that are not applied yet: the answer is as if they were',
    complete: 'file',
  },
  'api-url': {
    value: 'URL',
    about: 'where freeze-check answers (default: FREEZE_API_URL, else http://127.0.0.1:8080/freeze-check)',
  },
} as const satisfies Options;

export type CanIInput = Input<typeof options>;

export const canI = defineCommand({
  name: 'can-i',
  summary: 'ask freeze-check whether a change would pass',
  details: 'It sends the token in FREEZE_API_TOKEN if there is one.',
  options,
  examples: [
    { args: '-n frozen-shop -k Deployment -a ROLL_OUT', about: 'now' },
    { args: '-n shop -k CronJob -a CREATE -f freeze.yaml', about: 'as if freeze.yaml were applied' },
  ],
  reports: true,
  exitCodes: 'exit code 0: allowed; 1: denied; 2: no answer, or it depends on labels that the question does not say',
  load: () => import('./can-i-run.ts'),
});
