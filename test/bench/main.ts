import { readdir, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { parseArgs } from 'node:util';
import { meets, type Bench, type Figure } from './measure/figure.ts';

/** `npm run bench [-- [--strict] name…]`: each other file of this folder is a bench, named as the file. */
const { values, positionals } = parseArgs({ options: { strict: { type: 'boolean' } }, allowPositionals: true });

interface Result {
  readonly name: string;
  readonly about: string;
  readonly figures: readonly Figure[];
}

const results: Result[] = [];
const failed: string[] = [];
for (const name of await chosen()) {
  try {
    const { about, run } = (await import(join(import.meta.dirname, `${name}.ts`))) as Bench;
    console.log(`\n${name}: ${about}`);
    const figures = await run();
    results.push({ name, about, figures });
    print(figures);
  } catch (error) {
    console.error(`${name} failed:`, error);
    failed.push(name);
  }
}
const file = join(import.meta.dirname, 'results.json');
const machine = { node: process.version, platform: process.platform, arch: process.arch, at: new Date().toISOString() };
await writeFile(file, `${JSON.stringify({ ...machine, results }, undefined, 2)}\n`);
const missed = results.flatMap(({ figures }) => figures).filter((figure) => !meets(figure));
const outcome = [
  ...(failed.length === 0 ? [] : [`failed: ${failed.join(', ')}`]),
  missed.length === 0 ? 'every bar that was measured is met' : `${missed.length} over the bar`,
];
console.log(`\n${outcome.join('; ')}; all figures: ${file}`);
if (failed.length > 0 || (values.strict === true && missed.length > 0)) {
  process.exitCode = 1;
}

async function chosen(): Promise<string[]> {
  const files = await readdir(import.meta.dirname);
  const all = files.filter((name) => name.endsWith('.ts') && name !== 'main.ts').map((name) => basename(name, '.ts'));
  const unknown = positionals.filter((name) => !all.includes(name));
  if (unknown.length > 0) {
    throw new Error(`no such bench: ${unknown.join(', ')}; there is ${all.join(', ')}`);
  }
  return positionals.length === 0 ? all.sort() : positionals;
}

function print(figures: readonly Figure[]): void {
  const width = Math.max(...figures.map(({ what }) => what.length));
  for (const figure of figures) {
    const { what, value, unit, measured } = figure;
    const amount = `${value.toFixed(unit === '' ? 0 : 2)} ${unit}`.padStart(9);
    console.log(`  ${what.padEnd(width)}  ${amount}  ${verdict(figure).padEnd(16)} ${measured}`);
  }
}

function verdict(figure: Figure): string {
  const { bar, unit } = figure;
  if (bar === undefined) {
    return '';
  }
  const text = 'atMost' in bar ? `≤ ${bar.atMost} ${unit}` : `≥ ${bar.atLeast} ${unit}`;
  return `${text}: ${meets(figure) ? 'ok' : 'over'}`;
}
