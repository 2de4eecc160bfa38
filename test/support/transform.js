import { createHash } from 'node:crypto';
import { transformSync, version } from 'esbuild';

/** Strips types for jest; `npm run check` checks them. */
export default {
  getCacheKey: (source, file) => createHash('sha256').update(version).update(file).update(source).digest('hex'),
  process: (source, file) =>
    transformSync(source, { loader: 'ts', format: 'esm', target: 'node24', sourcemap: 'inline', sourcefile: file }),
};
