import { at, isEqual, type Json, listAt, objectAt, stringAt } from '../schema/value.ts';

interface Condition {
  readonly type: string;
  readonly status: 'True' | 'False';
  readonly reason: string;
  readonly message: string;
}

/** The status of a definition, given the others of its group: who has a name first keeps it. */
export function definitionStatus(definition: Json, others: readonly Json[], now: string): Json {
  const names = objectAt(definition, 'spec', 'names');
  const conflict = nameConflict(names, others);
  const isEstablished = conflict === undefined || conditionOf(definition, 'Established') === 'True';
  const accepted: Condition =
    conflict === undefined
      ? { type: 'NamesAccepted', status: 'True', reason: 'NoConflicts', message: 'no conflicts found' }
      : { type: 'NamesAccepted', status: 'False', ...conflict };
  const established: Condition = isEstablished
    ? {
        type: 'Established',
        status: 'True',
        reason: 'InitialNamesAccepted',
        message: 'the initial names have been accepted',
      }
    : { type: 'Established', status: 'False', reason: 'NotAccepted', message: 'not all names are accepted' };
  return {
    acceptedNames: conflict === undefined ? names : objectAt(definition, 'status', 'acceptedNames'),
    conditions: [accepted, established].map((condition) => withTransition(condition, definition, now)),
    storedVersions: storedVersions(definition),
  };
}

export function isEstablished(status: unknown): boolean {
  return conditionOf({ status }, 'Established') === 'True';
}

function conditionOf(definition: Json, type: string): unknown {
  const found = listAt(definition, 'status', 'conditions').find((condition) => at(condition, 'type') === type);
  return at(found, 'status');
}

/** A condition keeps its time as long as it stays what it was. */
function withTransition(condition: Condition, definition: Json, now: string): Json {
  const before = listAt(definition, 'status', 'conditions').find((one) => at(one, 'type') === condition.type);
  const since = stringAt(before, 'lastTransitionTime');
  const isSame = at(before, 'status') === condition.status && since !== undefined;
  const { type, status, reason, message } = condition;
  return { type, status, lastTransitionTime: isSame ? since : now, reason, message };
}

function nameConflict(names: Json, others: readonly Json[]): { reason: string; message: string } | undefined {
  const taken = others.map((other) => objectAt(other, 'status', 'acceptedNames'));
  const plurals = new Set(
    taken.flatMap((other) => [other['plural'], other['singular'], ...listAt(other, 'shortNames')]),
  );
  const kinds = new Set(taken.flatMap((other) => [other['kind'], other['listKind']]));
  const checks: readonly [string, unknown, ReadonlySet<unknown>][] = [
    ['PluralConflict', names['plural'], plurals],
    ['SingularConflict', names['singular'], plurals],
    ...listAt(names, 'shortNames').map((name): [string, unknown, ReadonlySet<unknown>] => [
      'ShortNamesConflict',
      name,
      plurals,
    ]),
    ['KindConflict', names['kind'], kinds],
    ['ListKindConflict', names['listKind'], kinds],
  ];
  const [found] = checks.filter(([, name, used]) => name !== undefined && used.has(name));
  return found && { reason: found[0], message: `${JSON.stringify(found[1])} is already in use` };
}

function storedVersions(definition: Json): readonly unknown[] {
  const before = listAt(definition, 'status', 'storedVersions');
  const storage = listAt(definition, 'spec', 'versions').find((version) => at(version, 'storage') === true);
  const name = at(storage, 'name');
  return name === undefined || before.some((version) => isEqual(version, name)) ? before : [...before, name];
}
