import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Found } from '../../lib/cli/functions.ts';
import { samplesOf } from '../../lib/cli/start/samples.ts';
import { exampleEnvironment } from '../../lib/function/config.ts';
import { standardInstallation } from '../../lib/install/manifests/installation.ts';
import { readOnly } from '../../lib/kube/read-only.ts';
import { until } from '../../lib/source/testing/until.ts';
import { foldersUnderTest } from './functions.ts';
import { openWorld, type World } from './world.ts';

const { namespace } = standardInstallation;
const reads = new Set(['get', 'list', 'watch']);
const found = await foldersUnderTest();

/** Those that have something to write about. */
const writers = found.filter(isAWriter).map(({ definition }) => definition.name);

function isAWriter({ definition, folder }: Found): boolean {
  return definition.permissions !== undefined && samplesOf(folder).length > 0;
}

describe('all functions in a dry run, with something to write about', () => {
  let world: World;

  beforeAll(async () => {
    const examples = found.flatMap(({ definition }) => Object.entries(exampleEnvironment(definition.config)));
    world = await openWorld({
      found,
      settings: { ...Object.fromEntries(examples), DRY_RUN: 'true', ISTIOD_CONFIG_READ_DELAY: '0s' },
      around: readOnly,
    });
    world.sandbox.faults.add({ effect: { do: 'delay', ms: 0 } }); // changes nothing, and records each request
    await world.playSamples();
    await world.tickAll();
    await until(() => writers.every((name) => plansOf(name).length > 0), 'every function has a plan', 45_000);
    await world.tickAll();
  });
  afterAll(async () => {
    await world[Symbol.asyncDispose]();
  });

  function plansOf(name: string): readonly string[] {
    return world.logged
      .filter((line) => line['function'] === name && (line['msg'] === 'would do' || line['msg'] === 'would restart'))
      .map((line) => [line['msg'], line['do'], line['kind'], line['namespace'], line['name']].join(' '));
  }

  it('send no request that would write', () => {
    const own = world.sandbox.faults.fired.filter(({ user }) => user.startsWith(`system:serviceaccount:${namespace}:`));
    const writes = own.filter(({ verb, resource }) => !reads.has(verb) && !resource.endsWith('reviews'));

    expect(new Set(own.map(({ user }) => user.split(':').at(-1)))).toEqual(
      new Set(found.map(({ definition }) => definition.name)),
    );
    expect(writes).toEqual([]);
  });

  it('leave no field in the store', () => {
    const { api } = world.sandbox;
    const objects = api.kinds().flatMap((kind) => api.list(kind));
    const theirs = objects.filter(({ metadata }) =>
      metadata?.managedFields?.some(({ manager }) => manager?.startsWith('kube-reflex.dev/')),
    );

    expect(objects.length).toBeGreaterThan(50);
    expect(theirs.map(({ kind, metadata }) => `${kind ?? ''} ${metadata?.name ?? ''}`)).toEqual([]);
  });

  it.each(writers)('%s logs what it would do', (name) => {
    expect(plansOf(name)).not.toEqual([]);
  });

  it('istio-rollout, which has a report mode of its own, keeps no state either and names what it would restart', () => {
    expect(plansOf('istio-rollout')).toContain('would do create ConfigMap kube-reflex istio-rollout-state');
    expect(plansOf('istio-rollout')).toContain('would restart  Deployment shop cart');
  });

  it('end their runs well', () => {
    const failed = world.logged.filter(({ msg }) => msg === 'failed' || msg === 'step' || msg === 'uncaught error');

    expect(failed).toEqual([]);
  });
});
