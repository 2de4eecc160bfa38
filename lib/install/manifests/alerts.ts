import { commonConditions, type ConditionTable, type Severity } from '../../function/conditions.ts';
import type { Definition } from '../../function/definition.ts';
import type { Manifest } from '../../kube/model/manifest.ts';

/** The severities of Prometheus alerts. Conditions that are only worth knowing have no alert. */
const grades: Readonly<Record<Severity, string | undefined>> = {
  error: 'critical',
  warning: 'warning',
  info: undefined,
};

/** Conditions come and go while a cluster converges; after this time a person must look. */
const patience = '10m';

/**
 * One alert for each condition, with its meaning and what to do. A function that is scaled to zero has no series, so
 * the last value within 15 minutes counts.
 */
export function conditionAlerts(definitions: readonly Definition[]): Manifest {
  const common = { name: 'conditions of every function', rules: rulesOf(commonConditions, undefined) };
  const own = definitions
    .filter(({ conditions = {} }) => Object.keys(conditions).length > 0)
    .map(({ name, conditions = {} }) => ({ name: `conditions of ${name}`, rules: rulesOf(conditions, name) }));
  return {
    apiVersion: 'monitoring.coreos.com/v1',
    kind: 'PrometheusRule',
    metadata: { name: 'kube-reflex-conditions', labels: { 'app.kubernetes.io/part-of': 'kube-reflex' } },
    spec: { groups: [common, ...own] },
  };
}

function rulesOf(table: ConditionTable, functionName: string | undefined): object[] {
  return Object.entries(table).flatMap(([type, { severity, meaning, action }]) => {
    const grade = grades[severity];
    const only = functionName === undefined ? '' : `function="${functionName}",`;
    return grade === undefined
      ? []
      : [
          {
            alert: `KubeReflex${type}`,
            expr: `max by (function) (last_over_time(kube_reflex_condition{${only}type="${type}"}[15m])) > 0`,
            for: patience,
            labels: { severity: grade },
            annotations: {
              summary: `{{ $labels.function }}: ${meaning}`,
              description: `${sentence(action)} GET /status of {{ $labels.function }} has the message.`,
            },
          },
        ];
  });
}

function sentence(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}.`;
}
