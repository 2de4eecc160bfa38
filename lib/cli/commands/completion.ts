import { defineCommand, type Input, type Options } from '../framework/command.ts';
import { shells } from '../framework/completion.ts';

export type CompletionInput = Input<Options>;

export const completion = defineCommand({
  name: 'completion',
  summary: 'print the script by which a shell completes commands, options and values',
  options: {},
  positionals: [{ name: 'SHELL', about: shells.join(', '), required: true, choices: shells }],
  examples: [{ args: 'bash', about: 'source <(kube-reflex completion bash), in ~/.bashrc' }],
  load: () => import('./completion-run.ts'),
});
