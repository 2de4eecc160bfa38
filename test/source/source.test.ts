import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import pino from 'pino';
import { configMaps } from '../../lib/kube/model/resource.ts';
import type { Failed, Sent, Subscription } from '../../lib/source/branch.ts';
import { startSource, type Source, type SourceOptions } from '../../lib/source/source.ts';
import { lastKnown, startRecorder, type Recorder } from '../../lib/source/testing/recorder.ts';
import { startScriptedApi, type ScriptedApi } from '../../lib/source/testing/scripted-api.ts';
import { until } from '../../lib/source/testing/until.ts';
import { createVirtualClock, type VirtualClock } from '../../lib/source/testing/virtual-clock.ts';
import type { SourceWatch } from '../../lib/source/view.ts';

let api: ScriptedApi;
let first: Recorder;
let second: Recorder;
let clock: VirtualClock;
let source: Source | undefined;

beforeEach(async () => {
  [api, first, second] = await Promise.all([startScriptedApi(), startRecorder(), startRecorder()]);
  clock = createVirtualClock();
});

afterEach(async () => {
  await source?.close();
  source = undefined;
  await Promise.all([api.close(), first.close(), second.close()]);
});

async function start(subscriptions: readonly Subscription[], options: Partial<SourceOptions> = {}): Promise<void> {
  source = await startSource({
    transport: api.transport,
    subscriptions,
    namespace: 'default',
    log: pino({ level: 'silent' }),
    now: clock.now,
    pacing: { pause: clock.pause },
    ...options,
  });
}

function configMapWatch(watch: Partial<SourceWatch> = {}): SourceWatch {
  return { resource: configMaps, mode: 'Reference', scope: 'cluster', ...watch };
}

function subscription(sink: Recorder, ...watches: SourceWatch[]): Subscription {
  return { name: 'some-function', sink: sink.url, watches };
}

/** Changes an object and waits until the sink receives it: then everything before it has arrived as well. */
async function settle(sink: Recorder, namespace = 'default'): Promise<void> {
  const before = sink.accepted.length;
  api.put('marker', { namespace });
  await until(() => sink.accepted.slice(before).some(isMarker), 'the marker');
}

function isMarker({ says }: { readonly says: string }): boolean {
  return says.endsWith('/marker');
}

function heard(sink: Recorder): string[] {
  return sink.accepted.filter((event) => !isMarker(event)).map(({ says }) => says);
}

describe('the source', () => {
  it('sends existing objects and each change once, in both modes', async () => {
    api.put('a', { data: { k: 'v' } });
    await start([subscription(first, configMapWatch()), subscription(second, configMapWatch({ mode: 'Resource' }))]);
    await settle(first);

    api.put('a', { data: { k: 'w' } });
    api.remove('a');
    await settle(first);
    await settle(second);

    const changes = ['add default/a', 'update default/a', 'delete default/a'];
    expect(heard(first)).toEqual(changes);
    expect(heard(second)).toEqual(changes);
    expect(first.accepted[0]).toMatchObject({
      headers: { 'ce-type': 'dev.knative.apiserver.ref.add', 'kn-namespace': 'default' },
      object: { kind: 'ConfigMap', namespace: 'default', name: 'a', apiVersion: 'v1' },
    });
    expect(second.accepted[0]).toMatchObject({
      headers: { 'ce-type': 'dev.knative.apiserver.resource.add', 'ce-source': (await api.transport.server()).origin },
      object: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data: { k: 'v' } },
    });
  });

  it('serves equal watches of several functions from one connection', async () => {
    const watch = configMapWatch({ selector: { matchLabels: { app: 'x' } } });
    await start([
      subscription(first, watch, configMapWatch({ scope: { namespaces: ['default', 'shop'] } })),
      subscription(second, { ...watch, mode: 'Resource' }, configMapWatch({ scope: 'own' })),
    ]);
    await until(() => api.watches() === 3, 'all watches');
    await settle(first);

    expect(api.requests.filter((request) => request.includes('watch=')).toSorted()).toEqual([
      expect.stringMatching(/^\/api\/v1\/configmaps\?.*labelSelector=app%3Dx/),
      expect.stringMatching(/^\/api\/v1\/namespaces\/default\/configmaps\?/),
      expect.stringMatching(/^\/api\/v1\/namespaces\/shop\/configmaps\?/),
    ]);
  });

  it('sends only objects with the wanted names, and no object twice', async () => {
    await start([
      subscription(first, configMapWatch({ names: ['a', 'marker'] }), configMapWatch({ names: ['a', 'b'] })),
    ]);
    for (const name of ['a', 'b', 'c']) {
      api.put(name);
    }
    await settle(first);

    expect(heard(first)).toEqual(['add default/a', 'add default/b']);
  });

  it('does not delay a sink because another is slow', async () => {
    const gate = Promise.withResolvers<number>();
    first.answerWith(() => gate.promise);
    const watch = configMapWatch();
    await start([subscription(first, watch), subscription(second, watch)]);

    for (let index = 0; index < 50; index += 1) {
      api.put(`a${index}`);
    }
    await until(() => second.accepted.length === 50, 'all at the quick one');
    expect(first.received).toHaveLength(1);
    gate.resolve(204);
    await until(() => first.accepted.length === 50, 'all at the slow one');

    expect(heard(first)).toEqual(heard(second));
  });

  it('brings a sink that was down for a minute to the state of the cluster', async () => {
    api.put('a');
    api.put('b');
    first.answerWith(() => (clock.elapsedMs() < 60_000 ? 503 : 204));
    const failed: Failed[] = [];
    const sent: Sent[] = [];
    await start([subscription(first, configMapWatch({ mode: 'Resource' }))], {
      onSent: (event) => sent.push(event),
      onFailed: (event) => failed.push(event),
    });
    await until(() => failed.length > 0, 'the outage');

    api.put('a');
    api.remove('b');
    api.put('c');
    await until(() => sent.length === 3, 'three objects');

    expect(lastKnown(first.accepted)).toEqual(api.state());
    expect(failed[0]).toEqual({
      function: 'some-function',
      type: 'dev.knative.apiserver.resource.add',
      why: 'HTTP 503',
      lost: false,
    });
    expect(sent[0]).toMatchObject({ function: 'some-function', tries: 1 });
  });

  it('reports events that are refused for good', async () => {
    first.answerWith(({ says }) => (says === 'add default/a' ? 422 : 204));
    const failed: Failed[] = [];
    await start([subscription(first, configMapWatch())], { onFailed: (event) => failed.push(event) });
    api.put('a');
    await settle(first);

    expect(failed).toEqual([
      { function: 'some-function', type: 'dev.knative.apiserver.ref.add', why: 'HTTP 422', lost: true },
    ]);
  });

  it('ticks', async () => {
    await start([{ name: 'some-function', sink: first.url, watches: [], tick: '*/5 * * * *' }]);
    await until(() => first.accepted.length >= 3, 'ticks');

    expect(first.received[0]?.headers).toMatchObject({
      'ce-type': 'dev.knative.sources.ping',
      'ce-source': '/apis/v1/namespaces/default/pingsources/some-function-tick',
    });
    expect(first.received[0]?.body).toBe('');
  });

  it('refuses to start with a wrong schedule', async () => {
    await expect(start([{ name: 'f', sink: first.url, watches: [], tick: '61 * * * *' }])).rejects.toThrow(
      '"61" is not a valid minute',
    );
    expect(api.requests).toEqual([]);
  });

  it('closes while a sink does not answer', async () => {
    first.answerWith(() => new Promise(() => undefined));
    api.put('a');
    await start([subscription(first, configMapWatch())], { pacing: { pause: clock.pause, graceMs: 20 } });
    await until(() => first.received.length === 1, 'an event under way');

    await expect(source?.close()).resolves.toBeUndefined();
    expect(api.watches()).toBe(0);
  });
});
