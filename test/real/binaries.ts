import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** The path of a part's program. */
export function binary(name: string): string {
  const assets = process.env['KUBEBUILDER_ASSETS'] ?? '';
  const path = join(assets, name);
  if (!existsSync(path)) {
    throw new Error(`no ${name}`);
  }
  return path;
}
