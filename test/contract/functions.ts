import { findFunctions, type Found } from '../../lib/cli/functions.ts';
import { exampleEnvironment, parseConfig } from '../../lib/function/config.ts';
import type { Admission } from '../../lib/function/admission.ts';
import type { Definition } from '../../lib/function/definition.ts';
import type { Watch } from '../../lib/function/triggers.ts';
import { standardInstallation } from '../../lib/install/manifests/installation.ts';

/** Every function of the product and the sample function, each with its folder. */
export async function foldersUnderTest(): Promise<readonly Found[]> {
  return [...(await findFunctions('functions')), ...(await findFunctions('test/functions'))];
}

export async function functionsUnderTest(): Promise<readonly Definition[]> {
  return (await foldersUnderTest()).map(({ definition }) => definition);
}

/** What a function can't start without, from the examples of its settings. */
export function environmentOf(definition: Definition): Record<string, string> {
  return exampleEnvironment(definition.config);
}

export function watchesOf(definition: Definition): readonly Watch[] {
  const config = parseConfig(definition.config, environmentOf(definition));
  return (definition.on?.(config, standardInstallation) ?? []).filter((trigger) => 'resource' in trigger);
}

export function admissionsOf(definition: Definition): readonly Admission[] {
  const config = parseConfig(definition.config, environmentOf(definition));
  return definition.admit?.(config, standardInstallation) ?? [];
}
