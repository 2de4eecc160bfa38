import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import type { KubeObject } from '../kube/wire.ts';

/** The objects of a function's `samples.yaml`, in the order in which a newcomer should see them appear. */
export function samplesOf(folder: string): readonly KubeObject[] {
  const file = join(folder, 'samples.yaml');
  if (!existsSync(file)) {
    return [];
  }
  return parseAllDocuments(readFileSync(file, 'utf8')).map((document) => {
    const [error] = document.errors;
    if (error !== undefined) {
      throw new Error(`read ${file}: ${error.message}`, { cause: error });
    }
    return document.toJS() as KubeObject;
  });
}
