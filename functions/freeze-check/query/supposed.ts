import { readException, type Exception } from '../exception.ts';
import { malformation } from '../kinds/conform.ts';
import type { Policies } from '../policies.ts';
import type { ChangeFreeze, FreezeException, MaintenanceWindow, PolicyKind } from '../policy.ts';
import { readFreeze, readMaintenanceWindow, type Rule } from '../rule.ts';
import { isRecord } from '../../../lib/base/json.ts';

const kinds: readonly PolicyKind[] = ['ChangeFreeze', 'MaintenanceWindow', 'FreezeException'];

/** Reads the manifests of policies that may not be applied yet. Throws what admission would say of them. */
export function readSupposed(manifests: readonly unknown[]): Policies {
  const read = manifests.map((manifest, index) => readManifest(manifest, `policies[${index}]`));
  return {
    rules: read.filter((each) => 'denying' in each),
    exceptions: read.filter((each) => 'active' in each),
  };
}

/** The policies as they would be: each that is supposed takes the place of its namesake. */
export function withSupposed({ rules, exceptions }: Policies, supposed: Policies): Policies {
  return {
    rules: [
      ...rules.filter(({ kind, name }) => !supposed.rules.some((each) => each.kind === kind && each.name === name)),
      ...supposed.rules,
    ],
    exceptions: [
      ...exceptions.filter(({ name }) => !supposed.exceptions.some((each) => each.name === name)),
      ...supposed.exceptions,
    ],
  };
}

function readManifest(manifest: unknown, path: string): Rule | Exception {
  if (!isRecord(manifest)) {
    throw new Error(`${path}: must be the manifest of a policy`);
  }
  const kind = kinds.find((each) => each === manifest['kind']);
  if (kind === undefined) {
    throw new Error(`${path}.kind: must be one of ${kinds.join(', ')}`);
  }
  const { metadata } = manifest;
  if (!isRecord(metadata) || typeof metadata['name'] !== 'string') {
    throw new Error(`${path}.metadata.name: is required`);
  }
  const malformed = malformation(kind, manifest);
  if (malformed !== undefined) {
    throw new Error(`${path}.${malformed}`);
  }
  const read = readPolicy(kind, manifest);
  if (read.problems.length > 0) {
    throw new Error(read.problems.map(({ message }) => `${path}.${message}`).join('; '));
  }
  return read;
}

/** Of a manifest that is well-formed. */
function readPolicy(kind: PolicyKind, policy: object): Rule | Exception {
  switch (kind) {
    case 'ChangeFreeze':
      return readFreeze(policy as ChangeFreeze);
    case 'MaintenanceWindow':
      return readMaintenanceWindow(policy as MaintenanceWindow);
    case 'FreezeException':
      return readException(policy as FreezeException);
  }
}
