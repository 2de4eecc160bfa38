import { Refusal } from '../../lib/kube/refusal.ts';
import type { Kube } from '../../lib/kube/client.ts';
import type { Resource } from '../../lib/kube/model/resource.ts';
import { readException, type Exception } from './exception.ts';
import { malformation } from './kinds/conform.ts';
import {
  changeFreezes,
  freezeExceptions,
  maintenanceWindows,
  type DenyKind,
  type DenyPolicy,
  type Policy,
  type PolicyKind,
} from './policy.ts';
import { readFreeze, readMaintenanceWindow, type Rule } from './rule.ts';

/** Every policy there is. */
export interface Policies {
  readonly rules: readonly Rule[];
  readonly exceptions: readonly Exception[];
}

/** A policy that denies nobody knows what. */
export interface Unreadable {
  readonly kind: DenyKind;
  readonly policy: DenyPolicy;
  readonly why: string;
}

/** What the acting half goes by. */
export interface PoliciesAtHand extends Policies {
  readonly unreadable: readonly Unreadable[];
}

/** Reads all policies for the acting half. */
export async function readPolicies(kube: Kube): Promise<PoliciesAtHand> {
  const [freezes, windows, exceptions] = await Promise.all([
    listOf(kube, changeFreezes),
    listOf(kube, maintenanceWindows),
    listOf(kube, freezeExceptions),
  ]);
  return {
    rules: [
      ...wellFormed('ChangeFreeze', freezes).map(readFreeze),
      ...wellFormed('MaintenanceWindow', windows).map(readMaintenanceWindow),
    ],
    exceptions: wellFormed('FreezeException', exceptions).map(readException),
    unreadable: [...unreadableOf('ChangeFreeze', freezes), ...unreadableOf('MaintenanceWindow', windows)],
  };
}

function unreadableOf(kind: DenyKind, policies: readonly DenyPolicy[]): readonly Unreadable[] {
  return policies.flatMap((policy) => {
    const why = malformation(kind, policy);
    return why === undefined ? [] : [{ kind, policy, why }];
  });
}

export function wellFormed<T extends Policy>(kind: PolicyKind, policies: readonly T[]): readonly T[] {
  return policies.filter((policy) => malformation(kind, policy) === undefined);
}

/** Every policy of a kind. A cluster that does not serve the kind has none. */
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
