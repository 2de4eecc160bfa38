import type { Logger } from 'pino';
import { Failure } from '../base/failure.ts';
import { compareText } from '../base/order.ts';
import type { Conditions, ConditionTable, Severity, Standing } from '../function/conditions.ts';
import type { Metrics } from './metrics.ts';

export interface ConditionsOptions {
  readonly function: string;
  readonly table: ConditionTable;
  readonly metrics: Pick<Metrics, 'conditions'>;
  readonly log: Logger;
}

/** The list of messages is cut after these; the count covers all. */
const mostMessages = 20;

const levels = { error: 'error', warning: 'warn', info: 'info' } as const satisfies Record<Severity, string>;

/**
 * The conditions of one instance. Each row has a gauge from the start; a log line reports when a condition begins,
 * changes or ends.
 */
export function createConditions({ function: name, table, metrics, log }: ConditionsOptions): Conditions {
  const standing = new Map<string, Standing>();
  for (const [type, { severity }] of Object.entries(table)) {
    metrics.conditions.set({ function: name, type, severity }, 0);
  }

  function set(type: string, problems: readonly string[]): void {
    const row = table[type];
    if (row === undefined) {
      throw new Failure('bug', `condition ${type} is not in the table of ${name}; add it to conditions.ts`);
    }
    const { severity, action } = row;
    const messages = problems.toSorted(compareText).slice(0, mostMessages);
    const before = standing.get(type);
    metrics.conditions.set({ function: name, type, severity }, problems.length === 0 ? 0 : 1);
    if (problems.length === 0) {
      standing.delete(type);
      if (before !== undefined) {
        log.info({ condition: type }, 'condition ended');
      }
      return;
    }
    standing.set(type, { type, severity, messages, count: problems.length });
    if (before?.count !== problems.length || before.messages.join('\n') !== messages.join('\n')) {
      log[levels[severity]]({ condition: type, messages, count: problems.length, action }, 'condition');
    }
  }

  return { set, standing: () => [...standing.values()].toSorted((a, b) => compareText(a.type, b.type)) };
}
