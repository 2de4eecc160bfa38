import { completionScript, shells } from '../framework/completion.ts';
import type { Outcome } from '../framework/command.ts';
import { functionNames } from '../functions.ts';
import type { CompletionInput } from './completion.ts';

export async function run({ positionals: [wanted], program }: CompletionInput): Promise<Outcome> {
  const shell = shells.find((each) => each === wanted) ?? 'bash';
  const text = completionScript(shell, program, { functions: await functionNames() });
  return { code: 0, text, data: text };
}
