import { afterEach, describe, expect, it } from '@jest/globals';
import { accountAccess, accountsOf, grant } from '../../lib/cli/start/accounts.ts';
import type { Definition } from '../../lib/function/definition.ts';
import { createTransport, type Transport } from '../../lib/kube/transport.ts';
import { startSandbox } from '../../lib/sandbox/sandbox.ts';
import hostCensus from '../functions/host-census/index.ts';

const namespace = 'kube-reflex';
const name = 'host-census';
const opened: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of opened.splice(0).reverse()) {
    await close();
  }
});

interface Account {
  readonly get: (path: string) => Promise<number>;
}

/** A cluster as the account of a function sees it. */
async function accountIn(definition: Definition): Promise<Account> {
  const sandbox = await startSandbox({ rbac: true, controllers: false });
  opened.push(() => sandbox.close());
  await grant(sandbox, accountsOf({ definition, settings: {}, namespace }));
  const transport: Transport = createTransport(accountAccess(sandbox, { name, namespace }));
  opened.push(transport.close);
  return { get: async (path) => (await transport.send({ method: 'GET', path })).status };
}

const ingresses = '/apis/networking.k8s.io/v1/ingresses';
const pods = '/api/v1/pods';

describe('the account of a function in the sandbox', () => {
  it('may do what the permissions of the function say and nothing else', async () => {
    const { get } = await accountIn(hostCensus);

    expect([await get(ingresses), await get(pods)]).toEqual([200, 403]);
  });

  it('has the rights of both halves, since one process is both', async () => {
    const list = { verbs: ['list'], scope: 'cluster' } as const;
    const { get } = await accountIn({
      ...hostCensus,
      permissions: () => [
        { ...list, groups: ['networking.k8s.io'], resources: ['ingresses'], role: 'events' },
        { ...list, groups: [''], resources: ['pods'], role: 'admission' },
      ],
    });

    expect([await get(ingresses), await get(pods)]).toEqual([200, 200]);
  });
});
