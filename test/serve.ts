import { join } from 'node:path';
import type { Definition } from '../lib/function/define.ts';
import { main } from '../lib/main.ts';

/** Runs the function of a folder as its own process, as an image does: `node test/serve.ts functions/coredns-sync`. */
const [, , folder = ''] = process.argv;
const { default: definition } = (await import(join(process.cwd(), folder, 'index.ts'))) as { default: Definition };
await main(definition);
