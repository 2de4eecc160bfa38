/**
 * `error`: something that was asked for is not being done. `warning`: it will be done late, or is at risk. `info`: worth
 * knowing, nothing is wrong.
 */
export type Severity = 'error' | 'warning' | 'info';

/** What can be wrong with a function's job, for the people who run it. */
export interface ConditionRow {
  readonly severity: Severity;
  /** What it means while it stands: one sentence, without a full stop. */
  readonly meaning: string;
  /** What to do about it: an imperative sentence, without a full stop. */
  readonly action: string;
}

/**
 * The conditions of a function by name. The metric, the alert, the rows of the doctor, `/status` and the section of the
 * README come from this one table:
 *
 * ```ts
 * export const conditions = {
 *   HostRefused: {
 *     severity: 'error',
 *     meaning: 'an Ingress names a host that is not a valid name; it does not resolve',
 *     action: 'correct the host; the message names the Ingress',
 *   },
 * } satisfies ConditionTable;
 * ```
 */
export type ConditionTable = Readonly<Record<string, ConditionRow>>;

/** Conditions that every function can have: the runtime raises them. */
export const commonConditions = {
  RightMissing: {
    severity: 'error',
    meaning: 'the API server refused a call because the account has no right to it; what the call was for is not done',
    action:
      'apply the manifests of this release and of these settings again; in a function of your own, add the right to permissions.ts',
  },
  SettingUnknown: {
    severity: 'warning',
    meaning: 'a variable names a setting that does not exist; it has no effect',
    action: 'remove the variable, or use the setting that the message names',
  },
  StateOfLaterRelease: {
    severity: 'error',
    meaning: 'a later release wrote the state of the function; this one does not touch it and does not work',
    action: 'install that release again, or delete the ConfigMap that the message names to start without it',
  },
} satisfies ConditionTable;

/** A condition that stands now. */
export interface Standing {
  readonly type: string;
  readonly severity: Severity;
  /** What exactly is wrong, one line for each problem; bounded. */
  readonly messages: readonly string[];
  /** How many problems there are, whether listed or not. */
  readonly count: number;
}

/** Where a handler reports what stands and what no longer does. */
export interface Conditions {
  /**
   * Everything that is wrong in this respect now; nothing wrong clears the condition. The last call counts, so a handler
   * that sees only a part of the cluster must not call it.
   */
  readonly set: (type: string, problems: readonly string[]) => void;
  /** What stands, by name. */
  readonly standing: () => readonly Standing[];
}

/** All rows that apply to a function. */
export function conditionsOf({ conditions = {} }: { readonly conditions?: ConditionTable }): ConditionTable {
  return { ...commonConditions, ...conditions };
}
