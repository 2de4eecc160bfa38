import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import nodeAffinity from '../../functions/node-affinity-mutate/index.ts';
import { secrets } from '../../lib/kube/resource.ts';
import { standardSite } from '../../lib/manifests/manifest.ts';
import { openWorld, type World } from '../node-affinity-mutate/world.ts';
import { install, leaving, usersView } from './cluster.ts';

const { namespace } = standardSite;
const certificates = 'node-affinity-mutate-certificates';
const issued = { 'node-affinity-mutate.kube-reflex.dev/tls-phase': 'stable' };

describe('node-affinity-mutate leaves', () => {
  let world: World;

  beforeEach(async () => {
    world = await openWorld();
  });

  afterEach(async () => {
    await world[Symbol.asyncDispose]();
  });

  it('with its state and its certificate, twice in a row; the rules that people wrote stay', async () => {
    const settings = { TLS_MODE: 'self' };
    await world.addNode('node-1');
    await world.writeRules('rules: []');
    const before = usersView(world.sandbox, nodeAffinity, settings);
    await install(world.sandbox, nodeAffinity, settings);
    await world.tick();
    await world.sandbox.api.create(secrets, { metadata: { name: certificates, namespace, annotations: issued } });
    const kept = Object.keys(usersView(world.sandbox, nodeAffinity, settings)).filter((key) => !(key in before));

    const first = await leaving(world.sandbox, nodeAffinity);
    const second = await leaving(world.sandbox, nodeAffinity);

    expect(kept).toEqual(['ConfigMap kube-reflex/node-affinity-mutate-state', `Secret kube-reflex/${certificates}`]);
    expect(first.remains).toEqual([]);
    expect(usersView(world.sandbox, nodeAffinity, settings)).toEqual(before);
    expect(second).toEqual({ steps: [], remains: [] });
  });

  it('twice, and the certificate that people gave it stays although the second time nobody knows of that', async () => {
    await install(world.sandbox, nodeAffinity, { TLS_MODE: 'files' });
    await world.sandbox.api.create(secrets, { metadata: { name: certificates, namespace } });

    await leaving(world.sandbox, nodeAffinity);
    await leaving(world.sandbox, nodeAffinity);

    expect(world.sandbox.api.get(secrets, certificates, namespace)).toBeDefined();
  });
});
