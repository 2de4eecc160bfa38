import { join } from 'node:path';
import type { Definition } from '../../lib/function/definition.ts';
import { main } from '../../lib/runtime/main.ts';

/**
 * Runs the function of a folder in its own process, as the image does: `node test/support/serve.ts
 * functions/coredns-sync`.
 */
const [, , folder = ''] = process.argv;
const { default: definition } = (await import(join(process.cwd(), folder, 'index.ts'))) as { default: Definition };
await main(definition);
