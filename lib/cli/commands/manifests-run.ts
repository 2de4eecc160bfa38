import { resolve } from 'node:path';
import { updateManifests, type Departure } from '../../install/manifests/installations.ts';
import { chosenSettings } from '../../install/manifests/settings.ts';
import type { Outcome } from '../framework/command.ts';
import { UsageError } from '../framework/errors.ts';
import { loadFunction, ownFunctions, packageRoot } from '../functions.ts';
import type { ManifestsInput } from './manifests.ts';

export async function run({ options, positionals }: ManifestsInput): Promise<Outcome> {
  const { out: root = packageRoot, set, check } = options;
  if (set.length > 0 && resolve(root) === packageRoot) {
    throw new UsageError(
      '--set needs --out with another folder: the files of this checkout are for the default settings',
    );
  }
  const found = [...(await ownFunctions()), ...(await Promise.all(positionals.map(loadFunction)))];
  const definitions = found.map(({ definition }) => definition);
  const settingsOf = chosenSettings(set, definitions);
  return report(await updateManifests(definitions, { root, check, settingsOf }), check);
}

function report(departures: readonly Departure[], check: boolean): Outcome {
  const lines = departures.map(({ path, superfluous }) =>
    superfluous
      ? `${path} ${check ? 'belongs to no function' : 'removed'}`
      : `${path} ${check ? 'is out of date' : 'written'}`,
  );
  const hint = check ? ['run the same without --check'] : [];
  return {
    code: check && lines.length > 0 ? 1 : 0,
    text: lines.length === 0 ? 'the manifests are up to date' : [...lines, ...hint].join('\n'),
    data: { check, files: departures },
  };
}
