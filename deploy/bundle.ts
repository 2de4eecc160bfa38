import { stat } from 'node:fs/promises';
import { basename, join, relative, resolve } from 'node:path';
import { build } from 'esbuild';
import { leaveAbsent } from './absent.ts';
import { leaveApart, loadLate, onlyKubeConfig, onlyVersion, parts } from './slim.ts';

const root = resolve(import.meta.dirname, '..');

export interface Bundle {
  readonly name: string;
  readonly file: string;
  readonly bytes: number;
  /** Packages with at least one byte in the bundle. */
  readonly packages: readonly string[];
}

const common = {
  absWorkingDir: root,
  platform: 'node',
  target: 'node24',
  format: 'cjs',
  minify: true,
  logLevel: 'warning',
} as const;

/** Bundles one function into one CommonJS file: Node's compile cache serves those, and one file is one read. */
export async function bundle(folder: string, outDirectory: string): Promise<Bundle> {
  await bundleParts(outDirectory);
  return bundleText({ name: basename(folder), text: entryOf(folder), sends: false }, outDirectory);
}

async function bundleParts(outDirectory: string): Promise<void> {
  await build({
    ...common,
    entryPoints: parts,
    outdir: outDirectory,
    outExtension: { '.js': '.cjs' },
    bundle: true,
    legalComments: 'linked',
    plugins: [onlyVersion],
  });
}

/** What runs beside the functions: the event source where nothing else sends events, and a place for dead letters. */
export function bundlePrograms(outDirectory: string): Promise<Bundle[]> {
  const programs = [
    { name: 'source', sends: true },
    { name: 'dead-letters', sends: false },
  ];
  return Promise.all(
    programs.map((program) =>
      bundleText({ ...program, text: `import './lib/programs/${program.name}.ts';\n` }, outDirectory),
    ),
  );
}

async function bundleText(
  { name, text, sends }: { readonly name: string; readonly text: string; readonly sends: boolean },
  outDirectory: string,
): Promise<Bundle> {
  const file = resolve(outDirectory, `${name}.cjs`);
  const { metafile } = await build({
    ...common,
    stdin: { contents: text, resolveDir: root, sourcefile: `${name}.ts`, loader: 'ts' },
    outfile: file,
    bundle: true,
    sourcemap: 'linked',
    sourcesContent: false,
    legalComments: 'linked',
    metafile: true,
    plugins: [onlyKubeConfig, leaveAbsent({ sends }), leaveApart, loadLate, onlyVersion],
  });
  const { size } = await stat(file);
  const inputs = metafile.outputs[relative(root, file).replaceAll('\\', '/')]?.inputs ?? {};
  return { name, file, bytes: size, packages: packagesIn(inputs) };
}

/** The file that an image starts: it loads the bundle that was asked for. */
export async function bundleSelect(outDirectory: string): Promise<void> {
  await build({ ...common, entryPoints: ['deploy/select.ts'], outfile: resolve(outDirectory, 'kube-reflex.cjs') });
}

function entryOf(folder: string): string {
  const definition = JSON.stringify(join(resolve(folder), 'index.ts'));
  return `import definition from ${definition};\nimport { main } from './lib/runtime/main.ts';\nvoid main(definition);\n`;
}

/** The packages that have a part in an output. */
export function packagesIn(inputs: Readonly<Record<string, { readonly bytesInOutput: number }>>): string[] {
  const packages = Object.entries(inputs)
    .filter(([, { bytesInOutput }]) => bytesInOutput > 0)
    .flatMap(([path]) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? []);
  return [...new Set(packages)].sort();
}
