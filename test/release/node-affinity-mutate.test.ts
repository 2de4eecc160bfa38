import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import nodeAffinity from '../../functions/node-affinity-mutate/index.ts';
import { configMaps, deployments, secrets, type ConfigMap, type Deployment } from '../../lib/kube/resource.ts';
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

  const ours = 'our-certificates';
  const prefixed = 'NODE_AFFINITY_MUTATE_TLS_SECRET';

  it.each([
    ['a variable for this function alone', { env: [{ name: prefixed, value: ours }] }],
    [
      'a ConfigMap',
      { env: [{ name: 'TLS_SECRET', valueFrom: { configMapKeyRef: { name: 'given', key: 'secret' } } }] },
    ],
    ['a whole ConfigMap', { envFrom: [{ prefix: 'TLS_', configMapRef: { name: 'whole' } }] }],
  ])('by the settings that it had itself, from %s', async (_from, container) => {
    await installWith(container);
    const given: ConfigMap = { metadata: { name: 'given', namespace }, data: { secret: ours } };
    const whole: ConfigMap = { metadata: { name: 'whole', namespace }, data: { SECRET: ours } };
    await world.sandbox.api.create(configMaps, given);
    await world.sandbox.api.create(configMaps, whole);
    await world.sandbox.api.create(secrets, { metadata: { name: ours, namespace, annotations: issued } });

    const { steps } = await leaving(world.sandbox, nodeAffinity);

    expect(steps).toContain(`delete Secret ${namespace}/${ours}`);
  });

  it('not before it is told a setting that its workload does not show', async () => {
    await installWith({ env: [{ name: prefixed, valueFrom: { fieldRef: { fieldPath: 'metadata.uid' } } }] });
    await world.sandbox.api.create(secrets, { metadata: { name: ours, namespace, annotations: issued } });

    await expect(leaving(world.sandbox, nodeAffinity)).rejects.toThrow(`${prefixed}: write it into its env, or give`);
    const { steps } = await leaving(world.sandbox, nodeAffinity, { environment: { TLS_SECRET: ours } });

    expect(steps).toContain(`delete Secret ${namespace}/${ours}`);
  });

  async function installWith(given: object): Promise<void> {
    await install(world.sandbox, nodeAffinity);
    const { api } = world.sandbox;
    const { spec, ...rest } = api.get(deployments, 'node-affinity-mutate', namespace) as Deployment;
    const containers = spec?.template.spec?.containers.map((container) => ({ ...container, ...given }));
    const template = { ...spec?.template, spec: { ...spec?.template.spec, containers } };
    await api.update(deployments, { ...rest, spec: { ...spec, template } } as Deployment);
  }
});
