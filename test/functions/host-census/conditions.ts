import type { ConditionTable } from '../../../lib/function/conditions.ts';

export const conditions = {
  CensusFull: {
    severity: 'error',
    meaning: 'there are more hosts than MAX_HOSTS; the census leaves out the last ones',
    action: 'raise MAX_HOSTS, or remove Ingresses that nobody needs',
  },
} satisfies ConditionTable;
