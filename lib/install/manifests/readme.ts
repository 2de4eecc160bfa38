import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { commonConditions, type ConditionTable } from '../../function/conditions.ts';
import type { Definition } from '../../function/definition.ts';

const section = /(<!-- conditions -->\n)[\s\S]*?(<!-- \/conditions -->)/;

/**
 * The expected text of each README whose table of conditions differs from the definitions. A README without the marks
 * `<!-- conditions -->` and `<!-- /conditions -->` has no such table.
 */
export async function outdatedReadmes(
  root: string,
  definitions: readonly Definition[],
): Promise<ReadonlyMap<string, string>> {
  const pages: readonly (readonly [string, ConditionTable])[] = [
    ['README.md', commonConditions],
    ...definitions.map(({ name, conditions = {} }) => [join('functions', name, 'README.md'), conditions] as const),
  ];
  const checked = await Promise.all(
    pages
      .filter(([path]) => existsSync(join(root, path)))
      .map(async ([path, table]) => {
        const text = await readFile(join(root, path), 'utf8');
        const wanted = pageWith(text, table);
        return wanted === text ? [] : [[path, wanted] as const];
      }),
  );
  return new Map(checked.flat());
}

function pageWith(text: string, table: ConditionTable): string {
  return text.replace(section, (_section, start: string, end: string) => `${start}\n${conditionRows(table)}\n\n${end}`);
}

/** The table as Markdown with aligned columns. */
export function conditionRows(table: ConditionTable): string {
  const rows = Object.entries(table).map(([type, { severity, meaning, action }]) => [
    `\`${type}\``,
    severity,
    meaning,
    action,
  ]);
  const all = [['condition', 'severity', 'meaning', 'what to do'], ...rows];
  const widths = [0, 1, 2, 3].map((column) => Math.max(3, ...all.map((row) => row[column]?.length ?? 0)));
  const lines = all.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)));
  const rule = widths.map((width) => '-'.repeat(width));
  return [...lines.slice(0, 1), rule, ...lines.slice(1)].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
