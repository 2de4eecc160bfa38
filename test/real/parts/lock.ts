import { closeSync, mkdirSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

/**
 * Does the work while no other process does it under the same path. It saves double work and is not needed for
 * correctness: what is guarded must also be safe when done twice.
 */
export async function withLock<T>(path: string, waiting: (pid: number) => void, work: () => Promise<T>): Promise<T> {
  mkdirSync(dirname(path), { recursive: true });
  let notified = false;
  while (!taken(path)) {
    const holder = holderOf(path);
    if (holder === undefined) {
      rmSync(path, { force: true }); // left by a process that was killed
      continue;
    }
    if (!notified) {
      waiting(holder);
      notified = true;
    }
    await pause(500);
  }
  try {
    return await work();
  } finally {
    rmSync(path, { force: true });
  }
}

function taken(path: string): boolean {
  try {
    const file = openSync(path, 'wx');
    writeSync(file, String(process.pid));
    closeSync(file);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') {
      return false;
    }
    throw error;
  }
}

/** The living process that holds a lock. */
function holderOf(path: string): number | undefined {
  try {
    const pid = Number(readFileSync(path, 'utf8'));
    if (pid === 0) {
      return pid; // just created, not yet written
    }
    process.kill(pid, 0);
    return pid;
  } catch {
    return undefined;
  }
}
