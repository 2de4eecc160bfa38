import { afterEach, describe, expect, it } from '@jest/globals';
import corednsSync from '../index.ts';
import { configMaps, deployments } from '../../../lib/kube/model/resource.ts';
import type { Sandbox } from '../../../lib/sandbox/sandbox.ts';
import { until } from '../../../lib/source/testing/until.ts';
import { openWorld } from './world.ts';
import { deploymentsOf, install, leaving, usersView } from '../../../test/release/cluster.ts';

const opened: (() => PromiseLike<unknown>)[] = [];

afterEach(async () => {
  await Promise.all(opened.splice(0).map((close) => close()));
});

describe('coredns-sync leaves', () => {
  const settings = { COREDNS_AUTO_CONFIGURE: 'true', DYNAMIC_CONFIGMAP_NAME: 'our-rules' };

  async function open() {
    const world = await openWorld(settings);
    opened.push(() => world[Symbol.asyncDispose]());
    await world.ingress('web', ['api.example.com']);
    const before = usersView(world.sandbox, corednsSync, settings);
    await install(world.sandbox, corednsSync, settings);
    return { world, before, view: () => usersView(world.sandbox, corednsSync, settings) };
  }

  it('half-way, while CoreDNS still rolls out with its mount, and DNS is as before', async () => {
    const { world, before, view } = await open();
    await world.tick();
    const changed = view();

    const waited = await leaving(world.sandbox, corednsSync, { patienceMs: 0 });
    await world.rollOut();
    const left = await leaving(world.sandbox, corednsSync);

    expect(changed).not.toEqual(before);
    expect(waited.remains).toEqual(['rollout: waiting']);
    expect(deploymentsOf(world.sandbox)).toEqual([]);
    expect(left.remains).toEqual([]);
    expect(view()).toEqual(before);
  });

  it('from a cluster where all is set up, twice in a row, and a running process puts nothing back', async () => {
    const { world, before, view } = await open();
    await world.tick();
    await world.rollOut();
    await world.tick();

    const first = leaving(world.sandbox, corednsSync);
    await until(() => !JSON.stringify(coreDeployment(world.sandbox)).includes('our-rules'), 'the mount is gone');
    await world.tell('add', 'web');
    await world.rollOut();
    const { remains } = await first;
    const second = await leaving(world.sandbox, corednsSync);

    expect(remains).toEqual([]);
    expect(view()).toEqual(before);
    expect(second).toEqual({ steps: [], remains: [] });
  });

  it('and keeps the rules while the Deployment of CoreDNS can not be changed', async () => {
    const { world } = await open();
    await world.tick();
    await world.rollOut();
    world.sandbox.faults.add({ verb: 'patch', resource: 'deployments', effect: { do: 'refuse', status: 500 } });

    const { remains } = await leaving(world.sandbox, corednsSync, { patienceMs: 0 });

    expect(remains).toContainEqual(expect.stringMatching(/^mount: /));
    expect(world.sandbox.api.get(configMaps, 'our-rules', 'kube-system')).toBeDefined();
    expect(deploymentsOf(world.sandbox)).toEqual(['coredns-sync']);
  });

  it('only in words when asked for a dry run', async () => {
    const { world, view } = await open();
    await world.tick();
    await world.rollOut();
    const before = view();

    const { steps } = await leaving(world.sandbox, corednsSync, { dryRun: true });

    expect(steps).toContain('would patch Deployment kube-system/coredns');
    expect(steps).toContain('would delete Deployment kube-reflex/coredns-sync');
    expect(view()).toEqual(before);
    expect(deploymentsOf(world.sandbox)).toEqual(['coredns-sync']);
  });
});

function coreDeployment({ api }: Sandbox): unknown {
  return api.get(deployments, 'coredns', 'kube-system');
}
