import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { importsOf } from './imports.ts';

/** Files that start a whole API server or a whole function. */
const whole = new Set(['lib/sandbox/sandbox.ts', 'lib/runtime/main.ts']);

const starts: readonly (readonly [RegExp, string])[] = [
  [/^import (?!type\b)[^;]*from 'node:child_process'/m, 'node:child_process'],
  [/^import (?!type\b)[^;]*from 'node:worker_threads'/m, 'node:worker_threads'],
  [/\bcreate(Secure)?Server\(/, 'a server'],
];

/** The chain of imports from a suite to what makes it more than a unit test. */
export function slownessOf(root: string, file: string, seen = new Set<string>()): readonly string[] | undefined {
  if (whole.has(file)) {
    return [file];
  }
  seen.add(file);
  const text = readFileSync(join(root, file), 'utf8');
  const started = starts.find(([pattern]) => pattern.test(text))?.[1];
  if (started !== undefined) {
    return [file, started];
  }
  for (const { to, typeOnly } of importsOf(root, file)) {
    const deeper = typeOnly || seen.has(to) ? undefined : slownessOf(root, to, seen);
    if (deeper !== undefined) {
      return [file, ...deeper];
    }
  }
  return undefined;
}
