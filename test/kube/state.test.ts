import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { pino } from 'pino';
import { kubeconfigAccess } from '../../lib/kube/access.ts';
import { createKube, type Kube } from '../../lib/kube/client.ts';
import { configMaps, type ConfigMap } from '../../lib/kube/model/resource.ts';
import { openState } from '../../lib/kube/state/state.ts';
import type { Document } from '../../lib/kube/state/document.ts';
import { createTransport, type Transport } from '../../lib/kube/transport.ts';
import { startSandbox, type Sandbox } from '../../lib/sandbox/sandbox.ts';

type Counts = Readonly<Record<string, number>>;

const document: Document<Counts> = {
  name: 'counter-state',
  schema: 2,
  parse: (data) => Object.fromEntries(Object.entries(data).map(([key, text]) => [key, Number(text)])),
  format: (counts) => Object.fromEntries(Object.entries(counts).map(([key, count]) => [key, String(count)])),
};
const namespace = 'default';

let sandbox: Sandbox;
let transport: Transport;
const calls: string[] = [];
beforeAll(async () => {
  sandbox = await startSandbox({ controllers: false });
  transport = createTransport(kubeconfigAccess(JSON.stringify(sandbox.kubeconfig)));
});
afterAll(async () => {
  transport.close();
  await sandbox.close();
});
beforeEach(async () => {
  if (sandbox.api.get(configMaps, document.name, namespace) !== undefined) {
    await sandbox.api.remove(configMaps, { name: document.name, namespace });
  }
  calls.length = 0;
});

function kube(dryRun?: 'plan'): Kube {
  return createKube({
    transport,
    fieldManager: 'kube-reflex.dev/test',
    log: pino({ level: 'silent' }),
    now: () => new Date(),
    dryRun,
    observe: ({ verb }) => calls.push(verb),
  });
}

function stored(): Readonly<Record<string, string>> | undefined {
  return (sandbox.api.get(configMaps, document.name, namespace) as ConfigMap | undefined)?.data;
}

async function store(annotations: Record<string, string>, data: Record<string, string>): Promise<void> {
  const metadata = { name: document.name, namespace, annotations };
  const object: ConfigMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data };
  await sandbox.api.create(configMaps, object);
}

function counting(name: string): (counts: Counts) => Counts {
  return (counts) => ({ ...counts, [name]: (counts[name] ?? 0) + 1 });
}

describe('a state document', () => {
  it('is created by the first update, then patched, and carries its schema', async () => {
    const state = await openState(document, { kube: kube(), namespace });

    await state.update(counting('a'));
    await state.update(counting('b'));

    expect(stored()).toEqual({ schema: '2', a: '1', b: '1' });
    expect(calls).toEqual(['get', 'create', 'patch']);
  });

  it('loses no change of concurrent writers', async () => {
    const writers = await Promise.all([1, 2, 3, 4].map(() => openState(document, { kube: kube(), namespace })));

    await Promise.all(writers.map((state) => state.update(counting('a'))));
    await Promise.all(writers.map((state) => state.update(counting('a'))));

    expect(stored()).toEqual({ schema: '2', a: '8' });
  });

  it('writes nothing if nothing changes, and removes keys that are left out', async () => {
    const state = await openState(document, { kube: kube(), namespace });
    await state.update(() => ({ a: 1, b: 2 }));
    calls.length = 0;

    await state.update((counts) => counts);
    await state.update(() => ({ a: 1, b: 2 }));
    expect(calls).toEqual([]);

    await state.update(() => ({ a: 1 }));
    expect(stored()).toEqual({ schema: '2', a: '1' });
  });

  it('refuses what a later release wrote, and leaves it as it is', async () => {
    const data = { schema: '3', a: '7' };
    await store({}, data);

    await expect(openState(document, { kube: kube(), namespace })).rejects.toMatchObject({
      kind: 'unavailable',
      message:
        'could not read ConfigMap counter-state: a later release wrote it (schema 3); install that release again, or delete the ConfigMap to start without it',
    });
    expect(stored()).toEqual(data);
  });

  it('removes a command together with the change that it led to', async () => {
    const command = 'counter.kube-reflex.dev/reset';
    await store({ [command]: 'now', other: 'stays' }, { schema: '1', a: '7' });
    const state = await openState(document, { kube: kube(), namespace });
    expect(state.annotation(command)).toBe('now');

    await state.update(() => ({ a: 0 }), { obsoleteAnnotations: [command] });

    expect(stored()).toEqual({ schema: '2', a: '0' });
    expect(state.annotation(command)).toBeUndefined();
    expect(sandbox.api.get(configMaps, document.name, namespace)?.metadata?.annotations).toEqual({ other: 'stays' });
  });

  it('continues with the next value in a dry run, and writes nothing', async () => {
    const state = await openState(document, { kube: kube('plan'), namespace });

    await state.update(counting('a'));
    await state.update(counting('a'));

    expect(state.value()).toEqual({ a: 2 });
    expect(stored()).toBeUndefined();
  });
});
