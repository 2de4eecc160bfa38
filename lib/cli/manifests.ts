import { parseArgs } from 'node:util';
import { updateManifests, type Departure } from '../manifests/installations.ts';
import { loadFunction, ownFunctions, packageRoot } from './functions.ts';

const usage = `usage: npm run manifests [-- [--check] [--out DIR] [FUNCTION-FOLDER…]]
  writes knative/ and parts of deploy/ under DIR (default: this checkout) for all of functions/* and the folders given
  --check   writes nothing; names the files that differ and exits 1`;

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      check: { type: 'boolean', default: false },
      out: { type: 'string', default: packageRoot },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    console.log(usage);
    return;
  }
  const found = [...(await ownFunctions()), ...(await Promise.all(positionals.map(loadFunction)))];
  const departures = await updateManifests(
    found.map(({ definition }) => definition),
    { root: values.out, check: values.check },
  );
  report(departures, values.check);
}

function report(departures: readonly Departure[], check: boolean): void {
  const lines = departures.map(({ path, superfluous }) =>
    superfluous
      ? `${path} ${check ? 'belongs to no function' : 'removed'}`
      : `${path} ${check ? 'is out of date' : 'written'}`,
  );
  if (lines.length === 0) {
    console.log('the manifests are up to date');
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
