import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import nodeAffinity from '../index.ts';
import {
  configMaps,
  deployments,
  mutatingWebhooks,
  secrets,
  type ConfigMap,
  type Deployment,
  type MutatingWebhookConfiguration,
} from '../../../lib/kube/model/resource.ts';
import type { KubeObject } from '../../../lib/kube/model/wire.ts';
import { standardInstallation } from '../../../lib/install/manifests/installation.ts';
import { openWorld, type World } from './world.ts';
import { install, leaving, usersView } from '../../../test/release/cluster.ts';

const { namespace } = standardInstallation;
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

  it('not before it is given a setting that its workload does not show', async () => {
    await installWith({ env: [{ name: prefixed, valueFrom: { fieldRef: { fieldPath: 'metadata.uid' } } }] });
    await world.sandbox.api.create(secrets, { metadata: { name: ours, namespace, annotations: issued } });

    await expect(leaving(world.sandbox, nodeAffinity)).rejects.toThrow(
      `could not read ${prefixed} from its workload: the value is not visible there; write it into its env, or pass`,
    );
    const { steps } = await leaving(world.sandbox, nodeAffinity, { environment: { TLS_SECRET: ours } });

    expect(steps).toContain(`delete Secret ${namespace}/${ours}`);
  });

  it('not by somebody who may not read the object that its settings come from, and says who could', async () => {
    await installWith({ envFrom: [{ secretRef: { name: 'whole' } }] });
    world.sandbox.faults.add({ verb: 'get', resource: 'secrets', effect: { do: 'refuse', status: 403 } });

    await expect(leaving(world.sandbox, nodeAffinity, { environment: { TLS_SECRET: ours } })).rejects.toThrow(
      'could not read the settings of its workload from Secret whole: forbidden; run this with an account that may',
    );
  });

  /** A function that died between two writes: of the certificate, the trust in it and its state, each may be missing. */
  it.each([
    ['its Secret, and nobody trusts it yet', { secret: true, trust: false }],
    ['the trust in a certificate whose Secret is gone', { secret: false, trust: true }],
  ])('half-way, with %s', async (_what, { secret, trust }) => {
    const settings = { TLS_MODE: 'self' };
    await world.addNode('node-1');
    const before = usersView(world.sandbox, nodeAffinity, settings);
    await install(world.sandbox, nodeAffinity, settings);
    if (secret) {
      await world.sandbox.api.create(secrets, { metadata: { name: certificates, namespace, annotations: issued } });
    }
    if (trust) {
      await trustIn(world, Buffer.from('a bundle').toString('base64'));
    }

    const first = await leaving(world.sandbox, nodeAffinity);
    const second = await leaving(world.sandbox, nodeAffinity);

    expect(first.remains).toEqual([]);
    expect(usersView(world.sandbox, nodeAffinity, settings)).toEqual(before);
    expect(world.sandbox.api.list(mutatingWebhooks)).toEqual([]);
    expect(second).toEqual({ steps: [], remains: [] });
  });

  async function trustIn({ sandbox: { api } }: World, caBundle: string): Promise<void> {
    for (const configuration of api.list(mutatingWebhooks) as readonly MutatingWebhookConfiguration[]) {
      const webhooks = configuration.webhooks?.map((webhook) => ({
        ...webhook,
        clientConfig: { ...webhook.clientConfig, caBundle },
      }));
      await api.update(mutatingWebhooks, { ...configuration, webhooks } as KubeObject);
    }
  }

  async function installWith(given: object): Promise<void> {
    await install(world.sandbox, nodeAffinity);
    const { api } = world.sandbox;
    const { spec, ...rest } = api.get(deployments, 'node-affinity-mutate', namespace) as Deployment;
    const containers = spec?.template.spec?.containers.map((container) => ({ ...container, ...given }));
    const template = { ...spec?.template, spec: { ...spec?.template.spec, containers } };
    await api.update(deployments, { ...rest, spec: { ...spec, template } } as Deployment);
  }
});
