import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Environment } from '../../function/config.ts';
import type { Definition } from '../../function/definition.ts';
import { conditionAlerts } from './alerts.ts';
import { certManagerVariant } from './cert-manager.ts';
import { componentFile, derivedFile, functionFile, kustomizationFile, manifestFile } from './file.ts';
import { driftOf, repair, type Folder } from './folder.ts';
import { knative, renderFunction, type Platform } from './function-manifests.ts';
import { brokerOf, namespaceOf } from './ground.ts';
import { standardInstallation } from './installation.ts';
import { openfaas, openfaasSite, openfaasSource, stackOf } from './openfaas.ts';
import { plain, plainSource } from './plain.ts';
import { defaultSettings, type SettingsOf } from './settings.ts';
import { outdatedReadmes } from './readme.ts';
import { renderShared } from './shared.ts';

type Folders = ReadonlyMap<string, Folder>;

/** The functions to install and their settings, which decide on rights, watches and webhooks. */
interface Wanted {
  readonly definitions: readonly Definition[];
  readonly settingsOf: SettingsOf;
}

/**
 * The ways to install the functions, each a folder of the repository. Kinds have a separate folder, because they
 * outlive the functions.
 */
const installations: readonly (readonly [string, (wanted: Wanted) => Folders])[] = [
  ['knative', knativeFolders],
  [join('deploy', 'plain'), plainFolders],
  [join('deploy', 'kinds'), kindFolders],
  [join('deploy', 'openfaas'), openfaasFolders],
  [join('deploy', 'monitoring', 'conditions'), alertFolders],
];

/** A file that differs from the definitions, or that should not exist. */
export interface Departure {
  readonly path: string;
  readonly superfluous: boolean;
}

export interface UpdateOptions {
  readonly root: string;
  readonly check: boolean;
  readonly settingsOf?: SettingsOf;
}

/**
 * Writes all manifests, alerts and README tables that differ from the definitions, and returns their paths. Problems
 * that it cannot fix are thrown before the first write.
 *
 * ```ts
 * const outdated = await updateManifests(definitions, { root: '.', check: true }); // writes nothing
 * ```
 */
export async function updateManifests(
  definitions: readonly Definition[],
  { root, check, settingsOf = defaultSettings }: UpdateOptions,
): Promise<Departure[]> {
  const drifts = await Promise.all(
    installations.map(async ([folder, foldersOf]) => {
      const place = join(root, folder);
      return { place, drift: await driftOf(place, foldersOf({ definitions, settingsOf })) };
    }),
  );
  const readmes = await outdatedReadmes(root, definitions);
  for (const { place, drift } of check ? [] : drifts) {
    await repair(place, drift);
  }
  for (const [path, text] of check ? [] : readmes) {
    await writeFile(join(root, path), text);
  }
  return [
    ...drifts.flatMap(({ place, drift }) => [
      ...[...drift.write.keys()].map((name) => ({ path: join(place, name), superfluous: false })),
      ...drift.remove.map((name) => ({ path: join(place, name), superfluous: true })),
    ]),
    ...[...readmes.keys()].map((path) => ({ path: join(root, path), superfluous: false })),
  ];
}

/** One base for each function and one for what they share; one overlay installs all, another one with cert-manager. */
function knativeFolders({ definitions, settingsOf }: Wanted): Folders {
  const bases = [...definitions.map(({ name }) => name), 'shared'];
  const admitting = definitions.filter(({ admit }) => admit !== undefined);
  return new Map([
    ['.', listing(new Map(), bases)],
    [
      'shared',
      listing(
        new Map([
          [
            'broker.yaml',
            manifestFile('the namespace and the Broker', [
              namespaceOf(standardInstallation),
              brokerOf(standardInstallation),
            ]),
          ],
          [
            'shared.yaml',
            manifestFile('what all functions share', renderShared(definitions, standardInstallation, settingsOf)),
          ],
        ]),
      ),
    ],
    ...(admitting.length === 0 ? [] : [['cert-manager', certManagerOverlay(bases, admitting)] as const]),
    ...definitions.map((definition): [string, Folder] => [
      definition.name,
      listing(new Map([['function.yaml', functionText(definition, { platform: knative, settingsOf })]])),
    ]),
    ...admitting.map((definition): [string, Folder] => [
      join(definition.name, 'cert-manager'),
      variant(definition, settingsOf(definition.name)),
    ]),
  ]);
}

/** Lists the bases again, because kustomize does not let an overlay build on the folder that contains it. */
function certManagerOverlay(bases: readonly string[], admitting: readonly Definition[]): Folder {
  const resources = bases.map((name) => `../${name}`);
  const components = admitting.map(({ name }) => `../${name}/cert-manager`);
  return { files: new Map(), kustomization: () => kustomizationFile({ resources, components }) };
}

function variant(definition: Definition, settings: Environment): Folder {
  const { certificates, patches } = certManagerVariant(definition, standardInstallation, {
    platform: knative,
    settings,
  });
  const what = `the certificate of ${definition.name} by cert-manager`;
  return {
    files: new Map([['certificates.yaml', manifestFile(what, certificates)]]),
    kustomization: (resources) => componentFile(resources, patches),
  };
}

function plainFolders({ definitions, settingsOf }: Wanted): Folders {
  const files = definitions.map((definition): [string, string] => [
    `${definition.name}.yaml`,
    functionText(definition, { platform: plain, settingsOf }),
  ]);
  const namespace = manifestFile('the namespace of all functions', [namespaceOf(standardInstallation)]);
  const source = manifestFile(
    'the watches of all functions',
    plainSource(definitions, standardInstallation, settingsOf),
  );
  return new Map([['.', listing(new Map([...files, ['namespace.yaml', namespace], ['source.yaml', source]]))]]);
}

/** The stack file is for `faas-cli`; the Kubernetes objects have a separate folder. */
function openfaasFolders({ definitions, settingsOf }: Wanted): Folders {
  const files = definitions.map((definition): [string, string] => [
    `${definition.name}.yaml`,
    functionText(definition, { platform: openfaas, settingsOf }, openfaasSite),
  ]);
  const source = manifestFile('the watches of all functions', openfaasSource(definitions, settingsOf));
  return new Map<string, Folder>([
    ['.', { files: new Map([['stack.yaml', derivedFile('for faas-cli', stackOf(definitions, settingsOf))]]) }],
    ['beside', listing(new Map([...files, ['source.yaml', source]]))],
  ]);
}

/** The alerts about conditions, which `deploy/monitoring` includes. */
function alertFolders({ definitions }: Wanted): Folders {
  const file = manifestFile('the alerts about conditions', [conditionAlerts(definitions)]);
  return new Map([['.', listing(new Map([['rules.yaml', file]]))]]);
}

function kindFolders({ definitions }: Wanted): Folders {
  const files = definitions.flatMap(({ name, kinds = [] }): [string, string][] =>
    kinds.length === 0 ? [] : [[`${name}.yaml`, manifestFile(`the kinds of ${name}`, kinds)]],
  );
  return new Map([['.', listing(new Map(files))]]);
}

/** A folder whose kustomization lists its files and `folders`. */
function listing(files: ReadonlyMap<string, string>, folders: readonly string[] = []): Folder {
  return { files, kustomization: (names) => kustomizationFile({ resources: [...folders, ...names].sort() }) };
}

function functionText(
  definition: Definition,
  { platform, settingsOf }: { readonly platform: Platform; readonly settingsOf: SettingsOf },
  site = standardInstallation,
): string {
  const environment = settingsOf(definition.name);
  return functionFile(definition.name, renderFunction(definition, site, { platform, environment }));
}
