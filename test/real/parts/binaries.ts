import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { parts, productOf, type Part, type PartName } from './parts.ts';

/** Where programs are looked for; read from the environment once, at the start. */
export interface Places {
  /** `KUBEBUILDER_ASSETS`: programs that someone else provides. */
  readonly assets: string | undefined;
  /** The directories of `PATH`. */
  readonly path: readonly string[];
  /** Our own builds, outside the checkout, so that they outlive it. */
  readonly cache: string;
}

export function placesOf(env: Readonly<Record<string, string | undefined>>): Places {
  const cache = env['XDG_CACHE_HOME'] ?? '';
  return {
    assets: env['KUBEBUILDER_ASSETS'],
    path: (env['PATH'] ?? '').split(delimiter).filter((directory) => directory !== ''),
    cache: join(cache === '' ? join(homedir(), '.cache') : cache, 'kube-reflex', 'real-parts'),
  };
}

export function moduleDirectory(name: PartName): string {
  return join(import.meta.dirname, 'modules', parts[name].product);
}

/** The arguments of `go`, apart from where to write. */
export function recipe(name: PartName): string[] {
  const linkFlags = ['-s', '-w', ...(productOf(name).linkFlags ?? [])].join(' ');
  return ['build', '-trimpath', '-ldflags', linkFlags];
}

/** What is built: a package, or a file of ours by its path. */
export function mainOf(name: PartName): string {
  return ownProgram(name) ?? parts[name].package;
}

function ownProgram(name: PartName): string | undefined {
  const { package: main } = parts[name];
  return main.endsWith('.go') ? join(import.meta.dirname, 'programs', main) : undefined;
}

/**
 * Where our own build of a part belongs. The key holds everything that the build reads, but not the Go release:
 * another one builds the same program, and the cache must serve a machine that has no Go.
 */
export function cachedPath(name: PartName, { cache }: Places): string {
  const module = ['go.mod', 'go.sum'].map((file) => join(moduleDirectory(name), file));
  const program = ownProgram(name);
  const hash = createHash('sha256');
  for (const file of program === undefined ? module : [...module, program]) {
    hash.update(readFileSync(file));
  }
  const key = hash
    .update(JSON.stringify([parts[name].package, recipe(name), process.platform, process.arch]))
    .digest('hex')
    .slice(0, 16);
  return join(cache, `${name}-${productOf(name).version}-${key}`, name);
}

/** The path of a part's program, if it exists. */
export function findBinary(name: PartName, places: Places): string | undefined {
  const { anyRelease }: Part = parts[name];
  const provided = [
    ...(places.assets === undefined ? [] : [places.assets]),
    ...(anyRelease === undefined ? [] : places.path),
  ];
  return [...provided.map((directory) => join(directory, name)), cachedPath(name, places)].find((path) =>
    existsSync(path),
  );
}
