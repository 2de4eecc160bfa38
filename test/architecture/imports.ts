import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

/** One import of a file of the repository. Paths are relative to its root. */
export interface Import {
  readonly from: string;
  readonly to: string;
  /** The whole statement is erased by the compiler. */
  readonly typeOnly: boolean;
}

const statement =
  /^(?:import|export)\s+(?<type>type\s+)?(?:[\w\s{},*$]+?\sfrom\s+)?'(?<static>\.[^']+)'|\bimport\(\s*'(?<dynamic>\.[^']+)'/gm;

/** Every TypeScript file below the folders that ships: no suites, no helpers of suites, no templates. */
export function shippedFiles(root: string, folders: readonly string[]): string[] {
  return folders.flatMap((folder) => filesBelow(root, folder)).filter(isShipped);
}

export function isShipped(file: string): boolean {
  return file.endsWith('.ts') && !/\.test\.ts$|\/testing\/|^functions\/[^/]+\/test\/|^lib\/sandbox\/test\//.test(file);
}

export function importsOf(root: string, file: string): Import[] {
  const text = readFileSync(join(root, file), 'utf8');
  return [...text.matchAll(statement)].flatMap(({ groups = {} }) => {
    const path = groups['static'] ?? groups['dynamic'] ?? '';
    return path.endsWith('.ts')
      ? [{ from: file, to: normalize(join(dirname(file), path)), typeOnly: groups['type'] !== undefined }]
      : [];
  });
}

/**
 * The groups of folders that import each other in circles. A folder and its subfolders are different folders; `placeOf`
 * may name other places than folders.
 */
export function folderCycles(imports: readonly Import[], placeOf: (file: string) => string = dirname): string[][] {
  const edges = new Map<string, Set<string>>();
  for (const { from, to } of imports) {
    const [source, target] = [placeOf(from), placeOf(to)];
    if (source !== target) {
      edges.set(source, (edges.get(source) ?? new Set()).add(target));
    }
  }
  const reached = new Map([...edges.keys()].map((folder) => [folder, reachable(folder, edges)]));
  const cyclic = [...reached].filter(([folder, targets]) => targets.has(folder)).map(([folder]) => folder);
  const groups = Map.groupBy(cyclic, (folder) =>
    cyclic
      .filter((other) => reached.get(folder)?.has(other) === true && reached.get(other)?.has(folder) === true)
      .join(),
  );
  return [...groups.values()];
}

/** Everything that can be reached from a node, the node itself only through a cycle. */
export function reachable(start: string, edges: ReadonlyMap<string, ReadonlySet<string>>): ReadonlySet<string> {
  const seen = new Set<string>();
  const open = [...(edges.get(start) ?? [])];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (!seen.has(next)) {
      seen.add(next);
      open.push(...(edges.get(next) ?? []));
    }
  }
  return seen;
}

/** The folders of all functions, the sample functions of the tests included. */
export function functionHomes(root: string): string[] {
  return ['functions', 'test/functions'].flatMap((folder) =>
    readdirSync(join(root, folder), { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => `${folder}/${name}`),
  );
}

function filesBelow(root: string, folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.parentPath.includes('node_modules'))
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1));
}
