import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Logger } from 'pino';
import type { InternalApi } from '../../sandbox/model/internal.ts';
import type { Certificates } from '../../sandbox/http/certificates.ts';
import { exists, type Found } from '../functions.ts';

export interface CompanionOptions {
  readonly api: InternalApi;
  /** For servers on 127.0.0.1. */
  readonly certificates: Certificates;
  readonly log: Logger;
}

/**
 * What a function meets in a cluster and the sandbox lacks, in small: `sandbox/companion.ts` of a function's folder
 * exports it as `startCompanion`. Returns how to end it.
 */
export type StartCompanion = (options: CompanionOptions) => Promise<() => Promise<void>>;

/** Starts the companions of the functions that have one. */
export async function startCompanions(
  found: readonly Found[],
  { log, ...options }: CompanionOptions,
): Promise<() => Promise<void>> {
  const ends: (() => Promise<void>)[] = [];
  for (const { folder, definition } of found) {
    const file = resolve(join(folder, 'sandbox', 'companion.ts'));
    if (await exists(file)) {
      const { startCompanion } = (await import(pathToFileURL(file).href)) as { startCompanion: StartCompanion };
      ends.push(await startCompanion({ ...options, log: log.child({ function: definition.name }) }));
    }
  }
  return async () => {
    await Promise.all(ends.map((end) => end()));
  };
}
