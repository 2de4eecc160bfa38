import { Refusal } from '../../lib/kube/refusal.ts';
import type { Kube } from '../../lib/kube/client.ts';
import type { Resource } from '../../lib/kube/resource.ts';
import { readException, type Exception } from './exception.ts';
import { changeFreezes, freezeExceptions, maintenanceWindows, type Policy } from './policy.ts';
import { readFreeze, readMaintenanceWindow, type Rule } from './rule.ts';

/** Every policy there is. */
export interface Policies {
  readonly rules: readonly Rule[];
  readonly exceptions: readonly Exception[];
}

/** Reads all policies for the acting half. A cluster that does not serve them yet has none. */
export async function readPolicies(kube: Kube): Promise<Policies> {
  const [freezes, windows, exceptions] = await Promise.all([
    listOf(kube, changeFreezes),
    listOf(kube, maintenanceWindows),
    listOf(kube, freezeExceptions),
  ]);
  return {
    rules: [...freezes.map(readFreeze), ...windows.map(readMaintenanceWindow)],
    exceptions: exceptions.map(readException),
  };
}

/** Every policy of a kind. */
export async function listOf<T extends Policy>(kube: Kube, resource: Resource<T>): Promise<readonly T[]> {
  try {
    return (await kube.list(resource)).items;
  } catch (error) {
    if (error instanceof Refusal && error.code === 404) {
      return [];
    }
    throw error;
  }
}
