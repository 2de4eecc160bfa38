import { describe, expect, it } from '@jest/globals';
import { parseCommandLine } from '../../lib/cli/framework/parse.ts';
import { start, type StartInput } from '../../lib/cli/start/command.ts';
import { startOptions } from '../../lib/cli/start/options.ts';

describe('the ports of npm start', () => {
  it.each([
    [[], 8080, 9443],
    [['--port', '9000'], 9000, 9001],
    [['--port', '0'], 0, 0],
    [['--tls-port', '9444'], 8080, 9444],
    [['--port', '9000', '--tls-port', '9444'], 9000, 9444],
  ])('%j: HTTP at %d, webhooks at %d', (args, port, tlsPort) => {
    // The parser does not know the types of the options; the framework hands them to `run` in the same way.
    const input = parseCommandLine(start, args) as unknown as StartInput;

    expect(startOptions(input)).toMatchObject({ port, tlsPort });
  });
});
