import { defineCommand, type Input, type Options } from '../framework/command.ts';

const options = {
  root: { value: 'DIR', about: 'the checkout to write to (default: this one)', complete: 'folder' },
} as const satisfies Options;

export type NewInput = Input<typeof options>;

export const newFunction = defineCommand({
  name: 'new',
  summary: 'write functions/NAME, a small function that works, and its manifests',
  options,
  positionals: [{ name: 'NAME', about: 'small letters, digits and single dashes, as in my-function', required: true }],
  examples: [{ args: 'my-function', about: 'a function to be changed into yours' }],
  reports: true,
  load: () => import('./new-run.ts'),
});
