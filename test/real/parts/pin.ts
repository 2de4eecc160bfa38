import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { mainOf } from './binaries.ts';
import { partNames, parts, products, type Product, type ProductName } from './parts.ts';

interface ModuleFile {
  readonly Replace?: readonly { readonly Old: { readonly Path: string } }[];
}

/**
 * Writes `modules/<product>/go.mod` and `go.sum` for the pinned version: `node test/real/parts/pin.ts [product…]`.
 * Needs the network; builds then take exactly what these files name.
 */
function pin(name: ProductName): void {
  const product: Product = products[name];
  const work = mkdtempSync(join(tmpdir(), 'kube-reflex-pin-'));
  function go(...args: readonly string[]): string {
    return execFileSync('go', args, {
      cwd: work,
      encoding: 'utf8',
      env: { ...process.env, GOFLAGS: '-mod=mod', CGO_ENABLED: '0', ...product.env },
      stdio: ['ignore', 'pipe', 'inherit'],
      maxBuffer: 64 * 1024 * 1024,
    });
  }
  go('mod', 'init', `real/${name}`);
  go('mod', 'edit', '-go=1.24.0', '-toolchain=none'); // the first that knows tools; `go get` raises it to what is needed
  if (product.staging !== undefined) {
    const { GoMod } = JSON.parse(go('mod', 'download', '-json', `${product.module}@${product.version}`)) as {
      GoMod: string;
    };
    const { Replace = [] } = JSON.parse(go('mod', 'edit', '-json', GoMod)) as ModuleFile;
    const staging = product.staging;
    go('mod', 'edit', ...Replace.map(({ Old }) => `-replace=${Old.Path}=${Old.Path}@${staging}`));
  }
  const target = join(import.meta.dirname, 'modules', name);
  mkdirSync(target, { recursive: true });
  const mains = partNames.filter((part) => parts[part].product === name).map(mainOf);
  const [own] = mains.filter((main) => main.endsWith('.go'));
  if (own === undefined) {
    go('get', '-tool', ...mains.map((main) => `${main}@${product.version}`));
  } else {
    copyFileSync(own, join(work, basename(own)));
    go('get', `${product.module}@${product.version}`);
    go('mod', 'tidy');
  }
  for (const main of mains) {
    go('list', '-deps', main); // fetches the checksums of everything that the build will read
  }
  copyFileSync(join(work, 'go.mod'), join(target, 'go.mod'));
  copyFileSync(join(work, 'go.sum'), join(target, 'go.sum'));
  rmSync(work, { recursive: true });
}

const wanted = process.argv.slice(2);
const built = new Set<ProductName>(Object.values(parts).map(({ product }) => product));
for (const name of built) {
  if (wanted.length === 0 || wanted.includes(name)) {
    pin(name);
  }
}
