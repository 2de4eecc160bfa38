import { mkdirSync, mkdtempSync, readlinkSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';

/** The files of a ConfigMap, changed all at once as the kubelet does it: a link to the directory that holds them moves. */
export interface Volume {
  readonly directory: string;
  write(files: Readonly<Record<string, string>>): void;
}

export function createVolume(directory: string): Volume {
  mkdirSync(directory, { recursive: true });
  let shown: readonly string[] = [];
  return {
    directory,
    write(files) {
      const fresh = mkdtempSync(`${directory}/..`);
      for (const [name, text] of Object.entries(files)) {
        writeFileSync(join(fresh, name), text);
      }
      const old = linked(join(directory, '..data'));
      symlinkSync(basename(fresh), join(directory, '..data_tmp'));
      renameSync(join(directory, '..data_tmp'), join(directory, '..data'));
      for (const name of Object.keys(files).filter((candidate) => !shown.includes(candidate))) {
        symlinkSync(join('..data', name), join(directory, name));
      }
      for (const name of shown.filter((candidate) => !(candidate in files))) {
        rmSync(join(directory, name));
      }
      shown = Object.keys(files);
      if (old !== undefined) {
        rmSync(join(directory, old), { recursive: true });
      }
    },
  };
}

function linked(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}
