/** What the doctor saw of one thing. `unknown` where it may not look, which is no reason to fail. */
export interface Finding {
  readonly function: string;
  readonly check: string;
  readonly state: 'ok' | 'warning' | 'error' | 'unknown';
  readonly message: string;
  /** What to do about it. */
  readonly fix?: string;
}

export type Found = Omit<Finding, 'function'>;

/** Whether a script should stop here. */
export function isHealthy(findings: readonly Finding[]): boolean {
  return findings.every(({ state }) => state !== 'error');
}

/** Colours the cell of a state. */
export type Paint = (state: Finding['state'], cell: string) => string;

/** One line per finding, columns aligned; what to do stands below what is wrong. */
export function tableOf(findings: readonly Finding[], paint: Paint = (_state, cell) => cell): string {
  const rows = findings.map(({ function: name, check, state, message }) => [name, check, state, message]);
  const all = [['FUNCTION', 'CHECK', 'STATE', 'MESSAGE'], ...rows];
  const widths = [0, 1, 2].map((column) => Math.max(...all.map((row) => (row[column] ?? '').length)));
  const indent = ' '.repeat(widths.reduce((sum, width) => sum + width + 2, 0));
  return all
    .flatMap((row, index) => {
      const { fix, state } = findings[index - 1] ?? {};
      const cells = row.map((cell, column) => cell.padEnd(widths[column] ?? 0));
      const painted = cells.map((cell, column) => (column === 2 && state !== undefined ? paint(state, cell) : cell));
      const line = painted.join('  ');
      return [line.trimEnd(), ...(fix === undefined ? [] : [`${indent}→ ${fix}`])];
    })
    .join('\n');
}
