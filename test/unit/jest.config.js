import { globSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { transformSync } from 'esbuild';
import base from '../../jest.config.js';
import { effectRooms, pureFolders, unmoved } from '../architecture/floor-plan.js';

const root = resolve(import.meta.dirname, '../..');

/** Where decisions are: the pure folders of lib, and each room of a function that has no effects. */
const pure = [
  ...pureFolders,
  ...foldersIn('functions')
    .filter((name) => !unmoved.includes(name))
    .flatMap(roomsOf),
];

/** Suites beside the files they test: pure, so they need no ports, no processes and no time. */
export default {
  ...base,
  rootDir: root,
  testMatch: ['<rootDir>/{functions,lib}/**/*.test.ts'],
  testPathIgnorePatterns: ['/node_modules/', '/test/', '/template/'],
  collectCoverageFrom: pure.flatMap(codeIn),
  coverageThreshold: Object.fromEntries(pure.map((folder) => [`./${folder}/`, { branches: 85, lines: 99 }])),
};

function roomsOf(name) {
  return foldersIn(`functions/${name}`)
    .filter((room) => !effectRooms.includes(room))
    .map((room) => `functions/${name}/${room}`);
}

function foldersIn(folder) {
  return readdirSync(join(root, folder), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);
}

/** Files that hold more than types, which nothing can cover. */
function codeIn(folder) {
  return globSync(`${folder}/**/*.ts`, { cwd: root })
    .filter((file) => !/\.test\.ts$|\/testing\//.test(file))
    .filter((file) => transformSync(readFileSync(join(root, file), 'utf8'), { loader: 'ts' }).code !== '');
}
