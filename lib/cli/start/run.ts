import { levels } from 'pino';
import type { StartInput } from './command.ts';
import { startOptions } from './options.ts';
import { openOutput } from './output.ts';
import { start } from './start.ts';
import { explained } from './taken-port.ts';

/** `npm start`: returns once everything listens; the process goes on until a signal. */
export async function run(input: StartInput): Promise<undefined> {
  const options = startOptions(input);
  const { LOG_LEVEL: level } = input.environment;
  // A wrong level is reported with all other wrong settings.
  const known = level !== undefined && (level === 'silent' || Object.hasOwn(levels.values, level));
  const output = openOutput({ stdout: process.stdout, colour: input.colour, level: known ? level : undefined });
  try {
    const { close } = await start(options, input.environment, output);
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
      process.once(signal, () => void close().then(() => process.exit(0)));
    }
  } catch (error) {
    output.flush();
    throw explained(error, options);
  }
  process.stdout.on('error', () => process.exit(0)); // the reader of a pipe has seen enough
  process.on('uncaughtException', (error) => output.log.error({ err: error, failure: 'bug' }, 'uncaught error'));
}
