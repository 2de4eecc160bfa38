import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import pino from 'pino';
import { configMaps } from '../../lib/kube/model/resource.ts';
import { reflect, type Observation, type View } from '../../lib/source/reflect.ts';
import { startScriptedApi, type ScriptedApi } from '../../lib/source/testing/scripted-api.ts';
import { until } from '../../lib/source/testing/until.ts';
import { createVirtualClock, type VirtualClock } from '../../lib/source/testing/virtual-clock.ts';

let api: ScriptedApi;
let clock: VirtualClock;
let ending: AbortController;
let running: Promise<void>[];
let observed: Observation[];

beforeEach(async () => {
  api = await startScriptedApi({ pageSize: 2 });
  clock = createVirtualClock();
  ending = new AbortController();
  running = [];
  observed = [];
});

afterEach(async () => {
  ending.abort();
  await Promise.all(running);
  await api.close();
});

function start(view: Partial<View> = {}): void {
  running.push(
    reflect(
      { resource: configMaps, ...view },
      {
        transport: api.transport,
        signal: ending.signal,
        log: pino({ level: 'silent' }),
        now: clock.now,
        pause: clock.pause,
        backoff: { firstMs: 500, longestMs: 30_000 },
        observe: (observation) => observed.push(observation),
      },
    ),
  );
}

async function startWatching(view: Partial<View> = {}): Promise<void> {
  start(view);
  await until(() => api.watches() === 1, 'the watch');
}

function said(): string[] {
  return observed.map(({ change, key }) => `${change} ${key}`);
}

/** Changes an object and waits until that is observed: then everything before it is observed as well. */
async function settle(): Promise<void> {
  api.put('marker');
  const version = api.state().get('default/marker');
  await until(() => observed.at(-1)?.object.metadata?.resourceVersion === version, 'the marker');
  observed.pop();
}

function lists(): string[] {
  return api.requests.filter((request) => !request.includes('watch='));
}

function positions(): (string | null)[] {
  return api.requests
    .filter((request) => request.includes('watch='))
    .map((request) => new URL(request, 'http://api').searchParams.get('resourceVersion'));
}

describe('a reflector', () => {
  it('reports existing objects in full, then each change', async () => {
    api.put('a', { data: { k: 'v' } });
    api.put('b');
    api.put('c', { namespace: 'other' });
    await startWatching();

    api.put('b');
    api.remove('a');
    api.put('a');
    await settle();

    expect(said()).toEqual([
      'add default/a',
      'add default/b',
      'add other/c',
      'update default/b',
      'delete default/a',
      'add default/a',
    ]);
    expect(observed[0]?.object).toMatchObject({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'a', namespace: 'default' },
      data: { k: 'v' },
    });
    // The last state, with the resourceVersion of the deletion.
    expect(observed[4]?.object).toMatchObject({ data: { k: 'v' }, metadata: { resourceVersion: '105' } });
    expect(lists()).toHaveLength(2);
  });

  it('observes one namespace and one selector only; an object that ceases to match is deleted', async () => {
    api.put('a', { namespace: 'shop', labels: { app: 'x' } });
    api.put('b', { namespace: 'shop' });
    api.put('c', { namespace: 'other', labels: { app: 'x' } });
    await startWatching({ namespace: 'shop', labelSelector: 'app=x' });

    api.put('b', { namespace: 'shop', labels: { app: 'x' } });
    api.put('a', { namespace: 'shop', labels: { app: 'y' } });
    await until(() => observed.length === 3, 'three observations');

    expect(said()).toEqual(['add shop/a', 'add shop/b', 'delete shop/a']);
    expect(api.requests[0]).toBe('/api/v1/namespaces/shop/configmaps?labelSelector=app%3Dx&limit=500');
  });

  it.each(['politely', 'abruptly', 'mid-line'] as const)(
    'resumes where it was when the connection ends %s, without a list',
    async (how) => {
      api.put('a');
      await startWatching();
      api.put('b');
      await settle();

      api.endWatches(how);
      api.put('c');
      api.remove('a');
      await until(() => api.watches() === 1, 'a new watch');
      await settle();

      expect(said()).toEqual(['add default/a', 'add default/b', 'add default/c', 'delete default/a']);
      expect(lists()).toHaveLength(1);
      expect(positions()).toEqual(['101', '103']);
    },
  );

  it('resumes from a bookmark when nothing else happened', async () => {
    api.put('a');
    await startWatching({ namespace: 'default' });
    api.put('b', { namespace: 'elsewhere' });
    api.bookmark();
    api.compact();
    api.bookmark();

    api.endWatches('politely');
    await until(() => positions().length === 2, 'a new watch');
    await until(() => api.watches() === 1, 'its acceptance');

    expect(positions()).toEqual(['101', '103']);
    expect(lists()).toHaveLength(1);
    expect(said()).toEqual(['add default/a']);
  });

  it('reports after a 410 exactly what changed in between, deletions by name', async () => {
    for (const name of ['a', 'b', 'c', 'd', 'e']) {
      api.put(name, { data: { k: 'v' } });
    }
    await startWatching();
    await until(() => observed.length === 5, 'the start');
    observed.length = 0;

    api.endWatches('abruptly');
    api.put('b');
    api.remove('c');
    api.put('f');
    api.remove('d');
    api.put('d');
    api.compact();
    await until(() => observed.length === 4, 'the differences');
    await settle();

    expect(said().toSorted()).toEqual(['add default/f', 'delete default/c', 'update default/b', 'update default/d']);
    expect(observed.find(({ change }) => change === 'delete')?.object).toEqual({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'c', namespace: 'default' },
    });
  });

  it('waits longer with each failure in a row and starts over after a success', async () => {
    api.refuse(503, 5);
    await startWatching();
    const first = [...clock.pauses];
    await settle();
    api.endWatches('abruptly');
    await until(() => api.watches() === 1, 'a new watch');

    expect(first).toHaveLength(5);
    for (const [index, ms] of first.entries()) {
      expect(ms).toBeGreaterThanOrEqual(250 * 2 ** index);
      expect(ms).toBeLessThanOrEqual(500 * 2 ** index);
    }
    expect(clock.pauses.at(-1)).toBeLessThanOrEqual(500);
  });

  it('lists again after a long outage, because the cluster may have been restored', async () => {
    api.put('a');
    await startWatching();
    await settle();
    expect(lists()).toHaveLength(1);

    api.refuse(503, 6);
    api.endWatches('abruptly');
    await until(() => api.watches() === 1 && positions().length > 6, 'a new watch');

    expect(lists().length).toBeGreaterThan(1);
    expect(said()).toEqual(['add default/a']);
  });

  it('ends quickly while it waits, lists or watches', async () => {
    await startWatching();
    api.refuse(503, 1000);
    start();
    await until(() => clock.pauses.length > 3, 'failures');

    ending.abort();

    await expect(Promise.all(running)).resolves.toEqual([undefined, undefined]);
  });
});
