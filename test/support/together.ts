import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** `node test/support/together.ts "tsc -p ." "eslint ."`: runs commands at the same time; fails if one of them does. */
const commands = process.argv.slice(2);
const codes = await Promise.all(
  commands.map(async (command) => {
    const child = spawn(command, { shell: true, stdio: 'inherit' });
    const [code] = (await once(child, 'exit')) as [number | null];
    return code ?? 1;
  }),
);
const failed = commands.filter((_, index) => codes[index] !== 0);
if (failed.length > 0) {
  process.stderr.write(`failed: ${failed.join(', ')}\n`);
  process.exitCode = 1;
}
