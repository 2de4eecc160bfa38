import { readFile, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import type { KeyPair } from './certificate.ts';

/** The kubelet may delete the directory that was just resolved; a retry finds its successor. */
const tries = 3;

/**
 * Reads the key pair of a mounted Secret, all three files of one generation; `undefined` if one is missing. The kubelet
 * swaps the link `..data` and deletes the old directory, so the link is resolved once and not by each read.
 */
export async function readKeyPair(directory: string): Promise<KeyPair | undefined> {
  for (let attempt = 1; attempt <= tries; attempt += 1) {
    const place = await realpath(join(directory, '..data')).catch(() => directory);
    try {
      const [cert, key, ca] = await Promise.all(
        ['tls.crt', 'tls.key', 'ca.crt'].map((name) => readFile(join(place, name), 'utf8')),
      );
      return { cert: cert ?? '', key: key ?? '', ca: ca ?? '' };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') {
        throw error;
      }
    }
  }
  return undefined;
}
