import { afterEach, describe, expect, it } from '@jest/globals';
import { pino } from 'pino';
import { accountAccess, accountsOf, grant, tellMissingRights } from '../../lib/cli/start/accounts.ts';
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
  readonly lines: readonly Readonly<Record<string, unknown>>[];
}

/** A cluster as the account of a function sees it. */
async function accountIn(definition: Definition): Promise<Account> {
  const sandbox = await startSandbox({ rbac: true, controllers: false });
  opened.push(() => sandbox.close());
  await grant(sandbox, accountsOf({ definition, settings: {}, namespace }));
  const lines: Record<string, unknown>[] = [];
  const log = pino({}, { write: (line) => lines.push(JSON.parse(line) as Record<string, unknown>) });
  const transport: Transport = createTransport(accountAccess(sandbox, { name, namespace }));
  opened.push(transport.close);
  const telling = tellMissingRights(transport, name, log);
  return { lines, get: async (path) => (await telling.send({ method: 'GET', path })).status };
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

  it('that lacks a right is named with it in one line, once', async () => {
    const { get, lines } = await accountIn({ ...hostCensus, permissions: () => [] });
    await get(ingresses);
    await get(ingresses);
    await get('/apis/networking.k8s.io/v1/namespaces/shop/ingresses/web');

    const level = 50;
    const resource = 'ingresses.networking.k8s.io';
    const where = 'grant it in functions/host-census/permissions.ts';
    expect(lines).toMatchObject([
      { level, verb: 'list', resource, msg: `host-census may not list ${resource}; ${where}` },
      { level, verb: 'get', resource, msg: `host-census may not get ${resource} in shop; ${where}` },
    ]);
    expect(lines).toHaveLength(2);
  });
});
