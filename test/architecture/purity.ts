import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { importsOf } from './imports.ts';

/** Why a file is not pure: the chain of imports that leads to the effect, and the effect. */
export interface Impurity {
  readonly chain: readonly string[];
  readonly effect: string;
}

/** Packages that only compute. Anything else that is not a relative import is an effect. */
const purePackages = new Set(['fast-json-patch', 'zod', 'zod/mini', 'zod/v4/core', 'yaml', 'node:util', 'node:assert']);

/** A digest computes; everything else of node:crypto may be chance. */
const pureNames: Readonly<Record<string, RegExp>> = {
  'node:crypto': /^import (type )?\{ (createHash|hash|type Hash|X509Certificate)(, (createHash|hash))* \}/,
};

const packageImport = /^(?:import|export)\s+(?!type\s)(?:[\w\s{},*$]+?\sfrom\s+)?'(?<name>[^'.][^']*)'/gm;

/** What reads a clock, the environment, chance or the outside world without an import. */
const effects: readonly (readonly [RegExp, string])[] = [
  [/\bDate\.now\(|\bnew Date\(\s*\)/, 'the clock'],
  [/\bMath\.random\b|\bcrypto\.(randomUUID|getRandomValues)\(/, 'chance'],
  [/(?<![.\w])(setTimeout|setInterval|setImmediate|queueMicrotask)\(/, 'a timer'],
  [/(?<![.\w'])process\.(?!hrtime\b)|(?<![.\w])process\.hrtime/, 'the process'],
  [/(?<![.\w])(fetch|performance\.now)\(/, 'the outside world'],
  [/(?<![.\w])console\./, 'the console'],
];

/** What a room that decides may not even name: it gets plain data. */
const hands = /import type[^;]*\b(Context|Kube|Transport|Logger)\b[^;]*from/;

/** The first effect that is reached from a file by imports that remain in the compiled code. */
export function impurityOf(root: string, file: string, seen = new Set<string>()): Impurity | undefined {
  if (seen.has(file)) {
    return undefined;
  }
  seen.add(file);
  const effect = effectIn(readFileSync(join(root, file), 'utf8'));
  if (effect !== undefined) {
    return { chain: [file], effect };
  }
  for (const { to, typeOnly } of importsOf(root, file)) {
    const deeper = typeOnly ? undefined : impurityOf(root, to, seen);
    if (deeper !== undefined) {
      return { chain: [file, ...deeper.chain], effect: deeper.effect };
    }
  }
  return undefined;
}

/** Whether the file names a type through which it could act: contexts, clients and logs belong to `read` and `act`. */
export function handIn(root: string, file: string): string | undefined {
  return hands.exec(readFileSync(join(root, file), 'utf8'))?.[1];
}

function effectIn(text: string): string | undefined {
  const code = withoutComments(text);
  const foreign = [...code.matchAll(packageImport)].find(
    ([line, name = '']) => !purePackages.has(name) && pureNames[name]?.test(line.trim()) !== true,
  );
  return foreign?.groups?.['name'] ?? effects.find(([pattern]) => pattern.test(code))?.[1];
}

function withoutComments(text: string): string {
  return text.replaceAll(/\/\*[\s\S]*?\*\//g, '').replaceAll(/(?<=^|\s)\/\/.*$/gm, '');
}
