import { join } from 'node:path';
import type { Definition } from '../function/define.ts';
import { functionFile } from './file.ts';
import { driftOf, repair } from './folder.ts';
import { knative, renderFunction } from './function-manifests.ts';
import { standardSite } from './manifest.ts';
import { plain, plainSource } from './plain.ts';

/** The ways to install the functions, each a folder of manifests in the repository. */
const installations = [
  { folder: 'knative', filesOf: (definitions: readonly Definition[]) => functionFiles(definitions, knative) },
  {
    folder: join('deploy', 'plain'),
    filesOf: (definitions: readonly Definition[]) =>
      functionFiles(definitions, plain).set(
        'source.yaml',
        functionFile('all functions', { manifests: plainSource(definitions), placeholders: {} }),
      ),
  },
];

/** One file that departs from the definitions: its text is another, or it should not be there. */
export interface Departure {
  readonly path: string;
  readonly superfluous: boolean;
}

/** Names every file under the root that departs from the definitions, and mends it unless asked only to check. */
export async function updateManifests(
  definitions: readonly Definition[],
  { root, check }: { readonly root: string; readonly check: boolean },
): Promise<Departure[]> {
  const departures: Departure[] = [];
  for (const { folder, filesOf } of installations) {
    const place = join(root, folder);
    const drift = await driftOf(place, filesOf(definitions));
    if (!check) {
      await repair(place, drift);
    }
    departures.push(
      ...[...drift.write.keys()].map((name) => ({ path: join(place, name), superfluous: false })),
      ...drift.remove.map((name) => ({ path: join(place, name), superfluous: true })),
    );
  }
  return departures;
}

function functionFiles(definitions: readonly Definition[], platform: typeof knative): Map<string, string> {
  return new Map(
    definitions.flatMap((definition) => {
      const { name, kinds = [] } = definition;
      const rendered = renderFunction(definition, standardSite, { platform });
      const own: [string, string] = [`${name}.yaml`, functionFile(name, rendered)];
      return kinds.length === 0
        ? [own]
        : [[`${name}-kinds.yaml`, functionFile(name, { manifests: kinds, placeholders: {} })], own];
    }),
  );
}
