import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, realpathSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Programs of this machine and where they belong in a root file system. */
export type Programs = Readonly<Record<string, string>>;

const accounts = 'root:x:0:0:root:/root:/bin/sh\nnonroot:x:65532:65532:nonroot:/home/nonroot:/bin/false\n';

/** A root file system of nothing but the programs and the libraries that they are linked to. */
export function makeRoot(directory: string, programs: Programs): void {
  for (const folder of ['etc', 'home/nonroot', 'root', 'tmp']) {
    mkdirSync(join(directory, folder), { recursive: true });
  }
  chmodSync(join(directory, 'tmp'), 0o1777);
  writeFileSync(join(directory, 'etc/passwd'), accounts);
  for (const [place, program] of Object.entries(programs)) {
    copy(program, join(directory, place));
    for (const library of librariesOf(program)) {
      copy(library, join(directory, library));
    }
  }
}

function copy(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true });
  cpSync(realpathSync(from), to, { recursive: true });
}

/** `ldd` names each library with its path: `libc.so.6 => /lib/libc.so.6 (0x…)`, the loader alone without an arrow. */
function librariesOf(program: string): string[] {
  const text = execFileSync('ldd', [program], { encoding: 'utf8' });
  return text.split('\n').flatMap((line) => /(?:=> |^\s+)(\/\S+) \(/.exec(line)?.[1] ?? []);
}
