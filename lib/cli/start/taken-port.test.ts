import { describe, expect, it } from '@jest/globals';
import { explained } from './taken-port.ts';

const options = { functions: [], port: 8080, tlsPort: 9443, apiPort: 8001, dryRun: false };

function taken(port: number): Error {
  return Object.assign(new Error('listen EADDRINUSE'), { code: 'EADDRINUSE', port });
}

describe('an error about a taken port', () => {
  it.each([
    ['of the API', taken(8001), 'HTTPS of the sandbox API; choose another with --api-port N'],
    [
      'after that',
      taken(8002),
      'plain HTTP of the sandbox API, the port after --api-port; choose another with --api-port N',
    ],
    [
      'in a cause',
      new Error('port 8080 is taken', { cause: taken(8080) }),
      'HTTP of the functions; choose another with --port N',
    ],
  ])('names the port %s and its flag', (_what, error, text) => {
    expect((explained(error, options) as Error).message).toContain(`is taken, which is for ${text}`);
  });

  it('is nothing else', () => {
    const errors = [new Error('other'), taken(1)];

    expect(errors.map((error) => explained(error, options))).toEqual(errors);
  });
});
