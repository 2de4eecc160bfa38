import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { effectRooms, pureFolders, unmoved } from './floor-plan.js';
import { functionHomes, shippedFiles } from './imports.ts';
import { handIn, impurityOf } from './purity.ts';

const root = resolve(import.meta.dirname, '../..');

/** The rooms of a function that must be pure. */
function pureRooms(home: string): string[] {
  return readdirSync(join(root, home), { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !effectRooms.includes(entry.name))
    .map(({ name }) => `${home}/${name}`);
}

const moved = functionHomes(root).filter((home) => !unmoved.includes(basename(home)));
const pure = shippedFiles(root, [...pureFolders, ...moved.flatMap(pureRooms)]);

describe('a pure room', () => {
  it.each(pure)('%s reaches no effect', (file) => {
    expect(impurityOf(root, file)).toBeUndefined();
  });

  it.each(pure)('%s is handed plain data only', (file) => {
    expect(handIn(root, file)).toBeUndefined();
  });
});

describe('the rule', () => {
  let planted = '';
  beforeAll(() => {
    planted = mkdtempSync(join(tmpdir(), 'purity-'));
  });
  afterAll(() => rmSync(planted, { recursive: true }));

  function plant(file: string, text: string): void {
    mkdirSync(dirname(join(planted, file)), { recursive: true });
    writeFileSync(join(planted, file), `${text}\n`);
  }

  it.each([
    ["import { readFileSync } from 'node:fs';", 'node:fs'],
    ["import { randomUUID } from 'node:crypto';", 'node:crypto'],
    ["import { pino } from 'pino';", 'pino'],
    ['export const x = Date.now();', 'the clock'],
    ['export const x = new Date();', 'the clock'],
    ['export const x = Math.random();', 'chance'],
    ['export const x = process.env;', 'the process'],
    ['setTimeout(() => undefined, 1);', 'a timer'],
    ["await fetch('http://127.0.0.1');", 'the outside world'],
  ])('finds %s', (text, effect) => {
    plant('room/x.ts', text);

    expect(impurityOf(planted, 'room/x.ts')).toEqual({ chain: ['room/x.ts'], effect });
  });

  it('finds an effect behind another file, by a static and by a dynamic import', () => {
    plant('room/static.ts', "import { y } from './middle.ts';\nexport const x = y;");
    plant('room/dynamic.ts', "export const x = import('./middle.ts');");
    plant('room/middle.ts', "export { z as y } from '../lib/clock.ts';");
    plant('lib/clock.ts', 'export const z = Date.now();');

    for (const file of ['room/static.ts', 'room/dynamic.ts']) {
      expect(impurityOf(planted, file)).toEqual({
        chain: [file, 'room/middle.ts', 'lib/clock.ts'],
        effect: 'the clock',
      });
    }
  });

  it.each([
    ["import type { Context } from '../../lib/function/definition.ts';", 'Context'],
    ["import type {\n  Kube,\n} from '../../lib/kube/client.ts';", 'Kube'],
  ])('finds the type in %j', (text, type) => {
    plant('room/x.ts', text);

    expect(handIn(planted, 'room/x.ts')).toBe(type);
  });

  it.each([
    "import type { Stats } from 'node:fs';\nexport type X = Stats;",
    "import { createHash } from 'node:crypto';\nexport const x = createHash;",
    'export const x = new Date(0); // not Date.now()',
    "import { y } from './pure.ts';\nexport const x = y;",
  ])('accepts %j', (text) => {
    plant('room/x.ts', text);
    plant('room/pure.ts', 'export const y = 1;');

    expect(impurityOf(planted, 'room/x.ts')).toBeUndefined();
  });
});
