import { createHash } from 'node:crypto';
import { transformSync, version } from 'esbuild';
import { boundGlobals } from './globals.js';

const options = { loader: 'ts', format: 'esm', target: 'node24', sourcemap: 'inline', ...boundGlobals };
const recipe = version + JSON.stringify(options);

/** Strips types for jest; `npm run check` checks them. */
export default {
  getCacheKey: (source, file) => createHash('sha256').update(recipe).update(file).update(source).digest('hex'),
  process: (source, file) => transformSync(source, { ...options, sourcefile: file }),
};
