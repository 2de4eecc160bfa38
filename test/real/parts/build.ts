import { mkdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { availableParallelism, freemem } from 'node:os';
import { dirname } from 'node:path';
import { cachedPath, findBinary, mainOf, moduleDirectory, recipe, type Places } from './binaries.ts';
import { goBuild, missingGo } from './go.ts';
import { withLock } from './lock.ts';
import { partNames, parts, versionOf, type PartName } from './parts.ts';

export type Report = (line: string) => void;

/** The largest link (istiod) was seen to take 2 GB. */
const memoryPerBuild = 2.5 * 1024 ** 3;

/** Builds what is neither provided nor cached. What was built stays built, so a broken run goes on where it stopped. */
export async function ensureParts(names: readonly PartName[], places: Places, report: Report): Promise<void> {
  const missing = partNames.filter((name) => names.includes(name) && findBinary(name, places) === undefined);
  const [first] = missing;
  if (first === undefined) {
    return;
  }
  const obstacle = missingGo(moduleDirectory(first));
  if (obstacle !== undefined) {
    const where = [...(places.assets === undefined ? [] : [places.assets]), places.cache].join(' or ');
    throw new Error(`${missing.join(', ')} not found in ${where}, and they cannot be built: ${obstacle}`);
  }
  const queues = Object.values(Object.groupBy(missing, (name) => parts[name].product));
  let done = 0;
  async function worker(): Promise<void> {
    for (let queue = queues.shift(); queue !== undefined; queue = queues.shift()) {
      for (const name of queue) {
        await buildPart(name, places, report);
        done += 1;
        report(`${done} of ${missing.length} parts built`);
      }
    }
  }
  await Promise.all(Array.from({ length: buildsAtOnce() }, worker));
}

/** A single build keeps two cores busy most of the time. */
function buildsAtOnce(): number {
  return Math.max(1, Math.min(Math.floor(availableParallelism() / 2), Math.floor(freemem() / memoryPerBuild)));
}

async function buildPart(name: PartName, places: Places, report: Report): Promise<void> {
  const path = cachedPath(name, places);
  function waiting(pid: number): void {
    report(`${name} ${versionOf(name)}: waiting for process ${pid}, which builds it`);
  }
  await withLock(`${dirname(path)}.lock`, waiting, async () => {
    if (findBinary(name, places) !== undefined) {
      return; // another run finished it while we waited
    }
    const start = Date.now();
    report(`${name} ${versionOf(name)}: building`);
    mkdirSync(dirname(path), { recursive: true });
    const unfinished = `${path}.${String(process.pid)}`;
    try {
      await goBuild([...recipe(name), '-o', unfinished, mainOf(name)], moduleDirectory(name));
      renameSync(unfinished, path);
    } finally {
      rmSync(unfinished, { force: true });
    }
    const megabytes = Math.round(statSync(path).size / 1e6);
    report(`${name} ${versionOf(name)}: built in ${Math.round((Date.now() - start) / 1000)} s, ${megabytes} MB`);
  });
}
