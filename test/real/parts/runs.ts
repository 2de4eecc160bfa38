import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A started program, as another terminal needs to know it. */
export interface PartRecord {
  readonly name: string;
  readonly version: string;
  readonly pid: number;
  readonly port?: number;
}

export interface RunRecord {
  /** The process that started the parts; they end with it. */
  readonly owner: number;
  readonly directory: string;
  readonly parts: readonly PartRecord[];
  /** Started by hand, so that `down` may end it; a suite ends its own. */
  readonly byHand: boolean;
}

const prefix = 'kube-reflex-real-';
const keptMs = 24 * 60 * 60 * 1000;

/** A directory for a new run. What dead runs left more than a day ago goes. */
export function createRunDirectory(): string {
  for (const directory of runDirectories()) {
    const record = readRecord(directory);
    const dead = record === undefined || !isAlive(record.owner);
    if (dead && Date.now() - statSync(directory).mtimeMs > keptMs) {
      rmSync(directory, { recursive: true, force: true });
    }
  }
  return mkdtempSync(join(tmpdir(), prefix));
}

export function writeRecord(record: RunRecord): void {
  const path = join(record.directory, 'run.json');
  writeFileSync(`${path}.new`, JSON.stringify(record));
  renameSync(`${path}.new`, path);
}

/** All runs whose owner lives. */
export function currentRuns(): RunRecord[] {
  return runDirectories()
    .flatMap((directory) => readRecord(directory) ?? [])
    .filter(({ owner }) => isAlive(owner));
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** Resident memory; `undefined` once the process is gone. */
export function residentMegabytes(pid: number): number | undefined {
  try {
    return Math.round(Number(execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' })) / 1024);
  } catch {
    return undefined;
  }
}

function runDirectories(): string[] {
  return readdirSync(tmpdir())
    .filter((name) => name.startsWith(prefix))
    .map((name) => join(tmpdir(), name));
}

function readRecord(directory: string): RunRecord | undefined {
  const path = join(directory, 'run.json');
  return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as RunRecord) : undefined;
}
