import type { Status } from '../render.ts';

const heads = ['WORKLOAD', 'STATE', 'PROXY', 'EXPECTED'] as const;

/** The status for people who watch a terminal. Undefined where there is nothing to tell. */
export function tableOf({ counts, paused, workloads }: Status): string | undefined {
  if (workloads.length === 0) {
    return undefined;
  }
  const cells = workloads.map(({ kind, namespace, name, code, current, expected }) => [
    `${kind} ${namespace}/${name}`,
    code,
    shortened(code === 'Restarted' ? expected : current),
    shortened(expected),
  ]);
  const rows = [heads, ...cells];
  const widths = heads.map((_head, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const lines = rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
  const summary = `${counts.queued} queued, ${counts.inflight} in flight${paused === undefined ? '' : `, paused: ${paused}`}`;
  return [summary, ...lines].join('\n');
}

/** The last part of an image tells versions apart; registries only make the line long. */
function shortened(image = '-'): string {
  return image.slice(image.lastIndexOf('/') + 1);
}
