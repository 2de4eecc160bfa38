import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { driftOf, repair, type Drift } from '../manifests/folder.ts';
import { findFunctions, loadFunction } from './functions.ts';

const usage = `usage: npm run manifests [-- [--check] [--out DIR] [FUNCTION-FOLDER…]]
  writes DIR/<function>.yaml (default: knative) for all of functions/* and the folders given
  --check   writes nothing; names the files that differ and exits 1`;

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      check: { type: 'boolean', default: false },
      out: { type: 'string', default: 'knative' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    console.log(usage);
    return;
  }
  const found = [...(await findFunctions('functions')), ...(await Promise.all(positionals.map(loadFunction)))];
  const drift = await driftOf(
    values.out,
    found.map(({ definition }) => definition),
  );
  if (!values.check) {
    await repair(values.out, drift);
  }
  report(drift, values);
}

function report({ write, remove }: Drift, { check, out }: { readonly check: boolean; readonly out: string }): void {
  const lines = [
    ...[...write.keys()].map((name) => `${join(out, name)} ${check ? 'is out of date' : 'written'}`),
    ...remove.map((name) => `${join(out, name)} ${check ? 'belongs to no function' : 'removed'}`),
  ];
  if (lines.length === 0) {
    console.log(`${out} is up to date`);
  } else if (check) {
    console.error([...lines, 'run: npm run manifests'].join('\n'));
    process.exitCode = 1;
  } else {
    console.log(lines.join('\n'));
  }
}

try {
  await main();
} catch (error) {
  console.error(`manifests: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
}
