import { Failure } from '../../lib/base/failure.ts';
import { pointer, unchanged, type Step } from '../../lib/kube/model/plan.ts';
import { configMaps, type ConfigMap } from '../../lib/kube/model/resource.ts';
import { publish } from './metrics.ts';
import { statusName } from './names.ts';
import type { Pass } from './pass.ts';
import { renderStatus, type Status } from './render.ts';
import { parseRows, renderRows, rowsOf, withRestarts, type Rows } from './rows.ts';
import type { Scan } from './scan/scan.ts';
import type { State } from './state/state.ts';

/** Writes the status for people, where it changed, and sets the metrics. */
export async function report({ context, store }: Pass, scan: Scan | undefined): Promise<void> {
  const { kube, namespace } = context;
  const state = store.state();
  const known = await kube.get(configMaps, { namespace, name: statusName });
  const before = parseRows(known?.data);
  const rows = withRestarts(scan === undefined ? before : rowsOf(before, scan), state);
  const step = statusStep(known, { namespace, state, rows });
  await kube.run({ steps: step === undefined ? [] : [step] }).catch(ignoreConflict);
  publish(context, state, { rows, scan });
}

/** Another instance wrote its status at the same moment; the next pass sees what is missing. */
function ignoreConflict(error: unknown): void {
  if (!(error instanceof Failure && error.kind === 'conflict')) {
    throw error;
  }
}

function statusStep(
  known: ConfigMap | undefined,
  { namespace, state, rows }: { readonly namespace: string; readonly state: State; readonly rows: Rows },
): Step | undefined {
  const { nextActionAt: _volatile, lastScanAt: _stamp, workloads: _rows, ...summary } = renderStatus(state, rows);
  const data = { summary: JSON.stringify(summary), ...renderRows(rows) };
  const why = 'status';
  if (known === undefined) {
    return {
      do: 'create',
      resource: configMaps,
      object: { metadata: { namespace, name: statusName }, data } as ConfigMap,
      why,
    };
  }
  const isSame = Object.entries(data).every(([key, text]) => known.data?.[key] === text);
  const operations = [unchanged(known), { op: 'add' as const, path: pointer('data'), value: data }];
  return isSame ? undefined : { do: 'patch', resource: configMaps, namespace, name: statusName, operations, why };
}

/** The status as `GET /status` tells it. */
export async function readStatus({ context, store }: Pick<Pass, 'context' | 'store'>): Promise<Status> {
  const { kube, namespace } = context;
  const known = await kube.get(configMaps, { namespace, name: statusName });
  return renderStatus(store.state(), parseRows(known?.data));
}
