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

/** One line per finding, columns aligned; what to do stands below what is wrong. */
export function tableOf(findings: readonly Finding[]): string {
  const rows = findings.map(({ function: name, check, state, message }) => [name, check, state, message]);
  const all = [['FUNCTION', 'CHECK', 'STATE', 'MESSAGE'], ...rows];
  const widths = [0, 1, 2].map((column) => Math.max(...all.map((row) => (row[column] ?? '').length)));
  const indent = ' '.repeat(widths.reduce((sum, width) => sum + width + 2, 0));
  return all
    .flatMap((row, index) => {
      const fix = findings[index - 1]?.fix;
      const line = row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ');
      return [line.trimEnd(), ...(fix === undefined ? [] : [`${indent}→ ${fix}`])];
    })
    .join('\n');
}
