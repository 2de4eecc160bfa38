import type { ConditionTable } from '../../function/conditions.ts';

/** What can be wrong with the function's job. Alerts, /status, the doctor and the README come from this table. */
export const conditions = {
  KeysOmitted: {
    severity: 'warning',
    meaning: 'a ConfigMap has more keys than MAX_KEYS; its annotation counts the others instead of naming them',
    action: 'raise MAX_KEYS, or split the ConfigMap that the message names',
  },
} satisfies ConditionTable;
