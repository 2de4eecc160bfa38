import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { updateManifests, type Departure } from '../install/manifests/installations.ts';
import { chosenSettings } from '../install/manifests/settings.ts';
import { loadFunction, ownFunctions, packageRoot } from './functions.ts';

const usage = `usage: npm run manifests [-- [--check] [--out DIR [--set FUNCTION.NAME=VALUE]…] [FUNCTION-FOLDER…]]
  writes knative/ and parts of deploy/ under DIR (default: this checkout) for all of functions/* and the folders given
  --set     a setting of a function: its rights, sources, webhooks and workloads are for that value, not for the default;
            only with --out, since the files of this checkout are for the defaults
  --check   writes nothing; names the files that differ and exits 1`;

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      check: { type: 'boolean', default: false },
      out: { type: 'string', default: packageRoot },
      set: { type: 'string', multiple: true, default: [] },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    console.log(usage);
    return;
  }
  if (values.set.length > 0 && resolve(values.out) === packageRoot) {
    throw new Error('--set needs --out with another folder: the files of this checkout are for the default settings');
  }
  const found = [...(await ownFunctions()), ...(await Promise.all(positionals.map(loadFunction)))];
  const definitions = found.map(({ definition }) => definition);
  const settingsOf = chosenSettings(values.set, definitions);
  const departures = await updateManifests(definitions, { root: values.out, check: values.check, settingsOf });
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
    console.error([...lines, 'run the same without --check'].join('\n'));
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
