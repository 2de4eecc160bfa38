import { execFileSync, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import { join } from 'node:path';

/** Why nothing can be built here, in words that say what to do about it; `undefined` if Go is there and new enough. */
export function missingGo(moduleDirectory: string): string | undefined {
  const needed = neededGo(readFileSync(join(moduleDirectory, 'go.mod'), 'utf8'));
  const advice = `install Go ${needed} or newer from https://go.dev/dl/ and put it on PATH`;
  const found = localGo();
  if (found === undefined) {
    return `there is no go on PATH: ${advice}`;
  }
  const { version, toolchain } = found;
  // From 1.21 on, Go fetches a newer release of itself unless its settings forbid it.
  const enough = toolchain.startsWith('local') ? needed : '1.21.0';
  return isAtLeast(version, enough) ? undefined : `Go ${version} is too old: ${advice}`;
}

/** Compiles at low priority; the output of a failed run is the error's message. */
export async function goBuild(args: readonly string[], directory: string): Promise<void> {
  const child = spawn('go', [...args], {
    cwd: directory,
    env: { ...process.env, GOFLAGS: '-mod=readonly', GOWORK: 'off', CGO_ENABLED: '0' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => output.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => output.push(chunk));
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('spawn', () => {
      if (child.pid !== undefined) {
        setPriority(child.pid, constants.priority.PRIORITY_BELOW_NORMAL);
      }
    });
    child.once('error', reject);
    child.once('close', resolve);
  });
  if (code !== 0) {
    throw new Error(`go ${args.join(' ')} failed in ${directory}:\n${Buffer.concat(output).toString('utf8').trim()}`);
  }
}

function localGo(): { version: string; toolchain: string } | undefined {
  try {
    const text = execFileSync('go', ['env', 'GOVERSION', 'GOTOOLCHAIN'], { encoding: 'utf8', cwd: '/' });
    const [version = '', toolchain = ''] = text.trim().split('\n');
    return { version: version.replace(/^go/, ''), toolchain };
  } catch {
    return undefined;
  }
}

function neededGo(goMod: string): string {
  return /^go (\S+)$/m.exec(goMod)?.[1] ?? '1.24';
}

export function isAtLeast(version: string, needed: string): boolean {
  const [have, want] = [version, needed].map((text) => text.split('.').map((part) => Number.parseInt(part, 10)));
  for (const [index, part] of (want ?? []).entries()) {
    const difference = (have?.[index] ?? 0) - part;
    if (difference !== 0) {
      return difference > 0;
    }
  }
  return true;
}
