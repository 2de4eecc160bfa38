import { join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import { updateManifests } from '../install/manifests/installations.ts';
import { findFunctions, packageRoot } from './functions.ts';
import { nameProblem, scaffold } from './scaffold.ts';

const usage = `usage: npm run new -- NAME [--root DIR]
  writes functions/NAME, a small function that works, to be changed into yours, and its manifests
  --root   the checkout to write to (default: this one)`;

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { root: { type: 'string', default: packageRoot }, help: { type: 'boolean', default: false } },
  });
  const [name, ...others] = positionals;
  if (values.help) {
    console.log(usage);
    return;
  }
  if (name === undefined || others.length > 0) {
    throw new Error(`it takes one name\n${usage}`);
  }
  const problem = await nameProblem(name, values.root);
  if (problem !== undefined) {
    throw new Error(problem);
  }
  const scaffolded = await scaffold(name, values.root);
  const found = await findFunctions(join(values.root, 'functions'));
  const manifests = await updateManifests(
    found.map(({ definition }) => definition),
    { root: values.root, check: false },
  );
  const files = [...scaffolded, ...manifests.map(({ path }) => path)];
  console.log(`${files.map((file) => relative('.', file)).join('\n')}\n\n${nextSteps(name)}`);
}

function nextSteps(name: string): string {
  return `next:
  1. npm test       it passes as it is
  2. npm start      it works: functions/${name}/README.md says how to see it
  3. make it yours, from plan.ts and plan.test.ts outwards; CONTRIBUTING.md leads the way`;
}

try {
  await main();
} catch (error) {
  console.error(`new: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
}
