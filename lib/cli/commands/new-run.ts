import { join, relative } from 'node:path';
import { updateManifests } from '../../install/manifests/installations.ts';
import type { Outcome } from '../framework/command.ts';
import { UsageError } from '../framework/errors.ts';
import { findFunctions, packageRoot } from '../functions.ts';
import { nameProblem, scaffold } from '../scaffold.ts';
import type { NewInput } from './new.ts';

export async function run({ options, positionals: [name = ''] }: NewInput): Promise<Outcome> {
  const { root = packageRoot } = options;
  const problem = await nameProblem(name, root);
  if (problem !== undefined) {
    throw new UsageError(problem);
  }
  const scaffolded = await scaffold(name, root);
  const found = await findFunctions(join(root, 'functions'));
  const manifests = await updateManifests(
    found.map(({ definition }) => definition),
    { root, check: false },
  );
  const paths = [...scaffolded, ...manifests.map(({ path }) => path)].map((file) => relative('.', file));
  const files = [...new Set(paths)]; // the README is scaffolded, then its table of conditions is written
  return { code: 0, text: `${files.join('\n')}\n\n${nextSteps(name)}`, data: { files } };
}

function nextSteps(name: string): string {
  return `next:
  1. npm test       it passes as it is
  2. npm start      it works: functions/${name}/README.md says how to see it
  3. make it yours, from keys/plan.ts and its test outwards; CONTRIBUTING.md leads the way`;
}
