import { afterAll, beforeAll, describe } from '@jest/globals';
import { startSandbox, type Sandbox } from '../sandbox.ts';
import { apiContract } from './contract/suite.ts';

describe('the sandbox', () => {
  let sandbox: Sandbox | undefined;
  beforeAll(async () => {
    sandbox = await startSandbox({ port: 0, httpPort: 0, rbac: true, podReadyMs: 50 });
  });
  afterAll(() => sandbox?.close());

  apiContract(() => {
    if (sandbox === undefined) {
      throw new Error('the sandbox is not up yet');
    }
    const { url, ca, adminToken: token } = sandbox;
    function forget(): Promise<void> {
      sandbox?.compact();
      return Promise.resolve();
    }
    return { url, ca, token, forget };
  });
});
