import type { ConditionTable, Severity, Standing } from '../../function/conditions.ts';
import type { Found } from './finding.ts';

const states = { error: 'error', warning: 'warning', info: 'ok' } as const satisfies Record<Severity, Found['state']>;

/** A row for each condition that stands in this process. */
export function standingFindings(standing: readonly Standing[], table: ConditionTable): Found[] {
  return standing.map(({ type, severity, messages, count }) => {
    const more = count > messages.length ? ` and ${count - messages.length} more` : '';
    return finding(type, severity, { message: `${messages.join('; ')}${more}`, table });
  });
}

/** The same from the metrics of a process, which do not carry the message. */
export function conditionsIn(metrics: string, name: string, table: ConditionTable): Found[] {
  return Object.entries(table)
    .filter(([type, { severity }]) =>
      metrics.includes(`kube_reflex_condition{function="${name}",type="${type}",severity="${severity}"} 1`),
    )
    .map(([type, { severity, meaning }]) => finding(type, severity, { message: meaning, table }));
}

function finding(
  type: string,
  severity: Severity,
  { message, table }: { readonly message: string; readonly table: ConditionTable },
): Found {
  const fix = table[type]?.action;
  return { check: `condition ${type}`, state: states[severity], message, ...(fix === undefined ? {} : { fix }) };
}
