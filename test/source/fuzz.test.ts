import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { setImmediate } from 'node:timers/promises';
import pino from 'pino';
import { configMaps } from '../../lib/kube/model/resource.ts';
import { startSource } from '../../lib/source/source.ts';
import { lastKnown, startRecorder, type Answer, type Recorder } from '../../lib/source/testing/recorder.ts';
import { startScriptedApi, type ScriptedApi } from '../../lib/source/testing/scripted-api.ts';
import { until } from '../../lib/source/testing/until.ts';
import { createVirtualClock } from '../../lib/source/testing/virtual-clock.ts';

type Deed = (world: World) => unknown;

interface World {
  readonly api: ScriptedApi;
  readonly whole: Recorder;
  readonly selected: Recorder;
}

const name = fc.constantFrom('a', 'b', 'c', 'd', 'e');
const namespace = fc.constantFrom('default', 'shop');
const labels = fc.constantFrom({ app: 'x' }, { app: 'y' });

const put = fc.record({ name, namespace, labels }).map(
  ({ name: called, ...fields }): Deed =>
    ({ api }) =>
      api.put(called, fields),
);
const remove = fc.record({ name, namespace }).map(
  ({ name: called, namespace: place }): Deed =>
    ({ api }) =>
      api.state().has(`${place}/${called}`) && api.remove(called, place),
);
const wait = fc.integer({ min: 1, max: 20 }).map((turns): Deed => async () => {
  for (let turn = 0; turn < turns; turn += 1) {
    await setImmediate();
  }
});
const trouble = fc.oneof(
  fc.constantFrom('politely', 'abruptly', 'mid-line').map(
    (how): Deed =>
      ({ api }) =>
        api.endWatches(how),
  ),
  fc.constant<Deed>(({ api }) => api.bookmark()),
  fc.constant<Deed>(({ api }) => api.compact()),
  fc.tuple(fc.constantFrom(429, 500, 503), fc.integer({ min: 1, max: 8 })).map(
    ([status, times]): Deed =>
      ({ api }) =>
        api.refuse(status, times),
  ),
  fc.tuple(fc.constantFrom('whole', 'selected'), fc.constantFrom<Answer>(204, 204, 503, 'cut')).map(
    ([which, answer]): Deed =>
      (world) =>
        world[which].answerWith(() => answer),
  ),
);
const deed = fc.oneof(
  { weight: 6, arbitrary: put },
  { weight: 3, arbitrary: remove },
  { weight: 3, arbitrary: wait },
  { weight: 3, arbitrary: trouble },
);

describe('the source under random faults', () => {
  it('leaves every sink with the state of the cluster, and sends nothing twice', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(deed, { minLength: 10, maxLength: 120 }), async (deeds) => {
        const world = await startWorld();
        const source = await startSourceFor(world);
        try {
          for (const act of deeds) {
            await act(world);
          }
          world.whole.answerWith(() => 204);
          world.selected.answerWith(() => 204);

          await until(() => agree(world.whole, world.api.state()), 'the whole state');
          await until(() => agree(world.selected, world.api.state('app=x')), 'the selected state');
          expect(sentTwice(world.whole)).toEqual([]);
          expect(sentTwice(world.selected)).toEqual([]);
        } finally {
          await source.close();
          await Promise.all([world.api.close(), world.whole.close(), world.selected.close()]);
        }
      }),
      { numRuns: 40, interruptAfterTimeLimit: 20_000 },
    );
  });
});

async function startWorld(): Promise<World> {
  const [api, whole, selected] = await Promise.all([
    startScriptedApi({ pageSize: 3 }),
    startRecorder(),
    startRecorder(),
  ]);
  return { api, whole, selected };
}

function startSourceFor({ api, whole, selected }: World): ReturnType<typeof startSource> {
  const watch = { resource: configMaps, mode: 'Resource', scope: 'cluster' } as const;
  return startSource({
    transport: api.transport,
    namespace: 'default',
    log: pino({ level: 'silent' }),
    pacing: { pause: createVirtualClock().pause, crowd: 5, graceMs: 0 },
    subscriptions: [
      { name: 'whole', sink: whole.url, watches: [watch] },
      { name: 'selected', sink: selected.url, watches: [{ ...watch, selector: { matchLabels: { app: 'x' } } }] },
    ],
  });
}

function agree(sink: Recorder, state: ReadonlyMap<string, string>): boolean {
  const known = lastKnown(sink.accepted);
  return known.size === state.size && [...state].every(([key, version]) => known.get(key) === version);
}

/** Versions of objects that were accepted more than once. */
function sentTwice({ accepted }: Recorder): string[] {
  const states = accepted
    .filter(({ says }) => !says.startsWith('delete'))
    .map(({ object }) => `${object.metadata?.name ?? ''} at ${object.metadata?.resourceVersion ?? ''}`);
  return states.filter((state, index) => states.indexOf(state) !== index);
}
