import definition from '../../../functions/node-affinity-mutate/index.ts';
import {
  managedLabels,
  podWith,
  settings as configured,
} from '../../../functions/node-affinity-mutate/testing/pods.ts';
import {
  configMaps,
  customResourceDefinitions,
  mutatingPolicies,
  mutatingPolicyBindings,
  mutatingWebhooks,
  namespaces,
  nodes,
  pods,
} from '../../../lib/kube/model/resource.ts';
import type { KubeObject } from '../../../lib/kube/model/wire.ts';
import { standardInstallation } from '../../../lib/install/manifests/installation.ts';
import { webhookConfigurations } from '../../../lib/install/manifests/webhook.ts';
import { until } from '../../../lib/source/testing/until.ts';
import { definitionOf } from '../../../functions/freeze-check/test/world.ts';
import { installWebhook, openWorld, type World } from '../../../functions/node-affinity-mutate/test/world.ts';
import { objectsOf, restore, type Captured, type Kept, type Settings } from '../kept.ts';

/** The function on a cluster of its own, whose clock the test turns. */
export interface Site extends AsyncDisposable {
  readonly world: World;
  readonly now: () => Date;
  readonly turn: (seconds: number) => void;
}

const start = new Date('2026-11-02T09:00:00Z');
const everything: Settings = { POLICY: 'true', COVERAGE: 'true', MANAGE_WEBHOOK: 'full', EXPLAIN: 'both' };
const configurationName = 'node-affinity-mutate';
const rules = `- name: fast
  match: { podSelector: { matchLabels: { app: web } } }
  pool: { key: speed, values: [high] }
  weight: 50
  tolerations: [{ key: fast, operator: Exists }]
- name: strict
  match: { podSelector: { matchLabels: { app: db } } }
  mode: required
  pool: { key: disk, values: [ssd] }
`;

async function open(environment: Settings, at: Date): Promise<Site> {
  let time = at.getTime();
  function now(): Date {
    return new Date(time);
  }
  const world = await openWorld({ environment, now });
  await serveBindings(world);
  return {
    world,
    now,
    turn: (seconds) => (time += seconds * 1000),
    [Symbol.asyncDispose]: () => world[Symbol.asyncDispose](),
  };
}

/** The sandbox stores policies and leaves out their bindings: a kind of the same name stands in for them. */
async function serveBindings({ sandbox: { api } }: World): Promise<void> {
  const { metadata, ...definition } = definitionOf(mutatingPolicyBindings);
  const annotations = { 'api-approved.kubernetes.io': 'unapproved, for tests only' };
  await api.create(customResourceDefinitions, { ...definition, metadata: { ...metadata, annotations } });
  const { plural } = mutatingPolicyBindings;
  await until(() => api.kinds().some((kind) => kind.plural === plural), 'bindings are served');
}

/** The kept cluster at the time when it was kept. The function has not looked at it yet. */
export async function openKept(kept: Kept, more: Settings = {}): Promise<Site> {
  const site = await open({ ...kept.settings, ...more }, kept.at);
  restore(site.world.sandbox, kept);
  return site;
}

function captured({ world, now }: Site, settings: Settings): Captured {
  const kinds = [
    ...[namespaces, nodes, pods, configMaps],
    ...[mutatingPolicies, mutatingPolicyBindings, mutatingWebhooks],
  ];
  function only({ metadata }: KubeObject): boolean {
    return !/^(default|kube-)/.test(metadata?.name ?? '');
  }
  return { at: now(), settings, objects: objectsOf(world.sandbox, { kinds, only }) };
}

/** The configuration as it is shipped. */
async function shipWebhook({ sandbox: { api } }: World): Promise<void> {
  const admissions = definition.admit?.(configured(), standardInstallation) ?? [];
  for (const configuration of webhookConfigurations(configurationName, admissions, standardInstallation)) {
    await api.create(mutatingWebhooks, configuration);
  }
}

/** One pod that the function has seen, and one that came while nobody answered. */
async function addPods(world: World): Promise<void> {
  const { api } = world.sandbox;
  await installWebhook(world);
  await api.create(pods, podNamed('covered'));
  for (const { metadata } of api.list(mutatingWebhooks)) {
    await api.remove(mutatingWebhooks, { name: metadata?.name ?? '' });
  }
  await shipWebhook(world);
  await api.create(pods, podNamed('missed'));
}

function podNamed(name: string): KubeObject {
  return { ...podWith(), metadata: { name, namespace: 'shop', labels: { app: 'web' } } };
}

async function running(settings: Settings): Promise<Site> {
  const site = await open(settings, start);
  const { world } = site;
  const { api } = world.sandbox;
  const domain = 'node-affinity-mutate.kube-reflex.dev';
  const quiet = { [`${domain}/skip`]: 'true' };
  const own = { [`${domain}/pool`]: 'gpu=a100' };
  await api.create(namespaces, { metadata: { name: 'quiet', labels: managedLabels, annotations: quiet } });
  await api.create(namespaces, { metadata: { name: 'special', labels: managedLabels, annotations: own } });
  await world.addNode('fast', { speed: 'high' });
  await world.addNode('gpu', { gpu: 'a100' });
  await world.writeRules(rules);
  await world.tick();
  await addPods(world);
  await world.tick();
  return site;
}

async function atRest(): Promise<Captured> {
  await using site = await running(everything);
  return captured(site, everything);
}

/** The last node of a pool went a minute ago. */
async function grace(): Promise<Captured> {
  await using site = await running(everything);
  await site.world.sandbox.api.remove(nodes, { name: 'fast' });
  site.turn(60);
  await site.world.tick();
  site.turn(60);
  return captured(site, everything);
}

/** Somebody broke the rules: the state alone has those that are in force. */
async function wrongRules(): Promise<Captured> {
  await using site = await running(everything);
  await site.world.writeRules(rules.replace('weight: 50', 'weight: 0'));
  await site.world.tick();
  return captured(site, everything);
}

/** As it is without rules, by the settings alone. */
async function plain(): Promise<Captured> {
  await using site = await open({}, start);
  await site.world.addNode('node-1');
  await site.world.tick();
  return captured(site, {});
}

export const scenarios: Readonly<Record<string, () => Promise<Captured>>> = {
  'at-rest': atRest,
  grace,
  'wrong-rules': wrongRules,
  plain,
};
