/**
 * How bad a condition is.
 *
 * | severity  | means                                 |
 * | --------- | ------------------------------------- |
 * | `error`   | something requested is not being done |
 * | `warning` | it will be done late, or is at risk   |
 * | `info`    | worth knowing, nothing is wrong       |
 */
export type Severity = 'error' | 'warning' | 'info';

/** Something that can be wrong with a function's job, for the people who run it. */
export interface ConditionRow {
  readonly severity: Severity;
  /** What it means: one sentence, without a full stop. */
  readonly meaning: string;
  /** What to do: an imperative sentence, without a full stop. */
  readonly action: string;
}

/**
 * The conditions of a function by name. The metric, the alert, the rows of the doctor, `/status` and a section of the
 * README are generated from this table:
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

/** The conditions that the runtime raises for every function. */
export const commonConditions = {
  RightMissing: {
    severity: 'error',
    meaning: 'the API server refused a call because a right is missing; the work that needs it is not done',
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

/** A condition that holds now. */
export interface Standing {
  readonly type: string;
  readonly severity: Severity;
  /** One line for each problem; bounded. */
  readonly messages: readonly string[];
  /** The number of problems, including those not listed. */
  readonly count: number;
}

/** Where a handler raises and clears conditions. */
export interface Conditions {
  /**
   * Sets all current problems of a condition; an empty list clears it. The last call counts, so a handler that sees
   * only a part of the cluster must not call it.
   */
  readonly set: (type: string, problems: readonly string[]) => void;
  /** The conditions that hold now, sorted by name. */
  readonly standing: () => readonly Standing[];
}

/** The conditions of the function and of the runtime. */
export function conditionsOf({ conditions = {} }: { readonly conditions?: ConditionTable }): ConditionTable {
  return { ...commonConditions, ...conditions };
}
