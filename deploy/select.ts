import { readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';

/**
 * What an image starts: `node kube-reflex.cjs [function]`. The bundle beside this file that the argument names, or
 * else FUNCTION, takes over the process.
 */
const load = createRequire(__filename);
const name = process.argv[2] ?? process.env['FUNCTION'] ?? '';
const names = readdirSync(dirname(__filename))
  .filter((file) => file.endsWith('.cjs') && file !== basename(__filename))
  .map((file) => basename(file, '.cjs'))
  .sort();

if (names.includes(name)) {
  load(join(dirname(__filename), `${name}.cjs`));
} else {
  const problem = name === '' ? 'no function is named' : `there is no function ${JSON.stringify(name)}`;
  process.stderr.write(`kube-reflex: ${problem}; set FUNCTION to one of ${names.join(', ')}\n`);
  process.exitCode = 1;
}
