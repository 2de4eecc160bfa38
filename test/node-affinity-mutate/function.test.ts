import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import { configMaps, namespaces, nodes, pods } from '../../lib/kube/resource.ts';
import type { KubeObject } from '../../lib/kube/wire.ts';
import { noCluster } from '../http.ts';
import definition from '../../functions/node-affinity-mutate/index.ts';
import { preferredField } from '../../functions/node-affinity-mutate/placement.ts';
import { applyAdditions } from '../../functions/node-affinity-mutate/testing/lossless.ts';
import {
  creating,
  managedLabels,
  ourTerm,
  podWith,
  pool,
  poolKey,
} from '../../functions/node-affinity-mutate/testing/pods.ts';
import { installWebhook, openWorld, type World } from './world.ts';

let world: World;

afterEach(async () => {
  await world[Symbol.asyncDispose]();
});

describe('pools come and go', () => {
  it('NA-38 a pool is noticed by a tick, without a restart', async () => {
    world = await openWorld();
    await world.tick();
    const before = await world.decisionFor();
    const inactive = await world.metric('pool_active');

    await world.addNode('worker');
    const { status } = await world.tick();
    const after = await world.decisionFor();

    expect(status).toBe(204);
    expect([before.patch, before.auditAnnotations, inactive]).toEqual([undefined, { decision: 'pool-absent' }, 0]);
    expect(patched(after)).toMatchObject({
      spec: { affinity: { nodeAffinity: { [preferredField]: [ourTerm] } } },
    });
    expect(await world.metric('pool_active')).toBe(1);
  });

  it('a pool that was missing is also noticed when a namespace changes', async () => {
    world = await openWorld();
    await world.tick();
    await world.addNode('worker');

    await world.tell('Namespace', 'shop');

    expect((await world.decisionFor()).patch).toBeDefined();
  });

  it('NA-40 after its last node a pool counts for the grace period and no longer', async () => {
    let now = new Date('2026-01-01T00:00:00Z');
    world = await openWorld({ now: () => now });
    await world.addNode('worker');
    await world.tick();

    await world.sandbox.api.remove(nodes, { name: 'worker' });
    await world.tick();
    now = new Date('2026-01-01T00:04:59Z');
    await world.tick();
    const within = await world.decisionFor();
    now = new Date('2026-01-01T00:05:00Z');
    await world.tick();
    const after = await world.decisionFor();

    expect(within.patch).toBeDefined();
    expect(after).toMatchObject({ allowed: true, auditAnnotations: { decision: 'pool-absent' } });
  });

  it('a node that comes back in time leaves no trace', async () => {
    let now = new Date('2026-01-01T00:00:00Z');
    world = await openWorld({ now: () => now });
    await world.addNode('worker');
    await world.tick();
    const before = world.state();

    await world.sandbox.api.remove(nodes, { name: 'worker' });
    await world.tick();
    now = new Date('2026-01-01T00:04:00Z');
    await world.addNode('worker');
    await world.tick();

    expect(world.state()).toEqual(before);
  });

  it('NA-41 when nodes cannot be listed, what is known stays and the process lives', async () => {
    world = await openWorld();
    await world.addNode('worker');
    await world.tick();
    world.sandbox.faults.add({ verb: 'list', resource: 'nodes', effect: { do: 'refuse', status: 403 } });
    await world.sandbox.api.create(namespaces, namespaceNamed('late'));

    const { status } = await world.tick();

    expect(status).toBeGreaterThanOrEqual(400);
    expect((await world.decisionFor()).patch).toBeDefined();
    expect(JSON.parse(world.state()?.['namespaces.json'] ?? '')).toHaveProperty('late');
  });
});

describe('what events do', () => {
  it('NA-55 repeated, reordered and unknown events are answered 204 and leave the state of a single pass', async () => {
    world = await openWorld();
    await world.addNode('worker');
    await world.tick();
    const once = world.state();

    const answers = [
      await world.tell('Namespace', 'shop', 'delete'),
      await world.tell('Namespace', 'shop', 'add'),
      await world.tell('Namespace', 'shop', 'add'),
      await world.tell('Namespace', 'never-was'),
      await world.tell('ConfigMap', 'node-affinity-mutate-state'),
      await world.tell('Secret', 'other'),
      await world.tick(),
    ];

    expect(answers.map(({ status }) => status)).toEqual([204, 204, 204, 204, 204, 204, 204]);
    expect(world.state()).toEqual(once);
    expect(world.calls.filter(({ verb }) => verb !== 'get' && verb !== 'list')).toHaveLength(1);
  });

  it('NA-56 while the API is away an event is answered 503, and a later one succeeds', async () => {
    world = await openWorld();
    await world.addNode('worker');
    const restore = world.sandbox.faults.add({ effect: { do: 'refuse', status: 503 } });

    const away = await world.tick();
    restore();
    const back = await world.tick();

    expect([away.status, back.status]).toEqual([503, 204]);
    expect((await world.decisionFor()).patch).toBeDefined();
  });

  it('a namespace that loses its label, opts out or names a pool is known by its event', async () => {
    world = await openWorld();
    await world.addNode('worker');
    await world.addNode('fast', { speed: 'high' });
    await world.tick();
    const reasons: unknown[] = [];

    for (const metadata of [
      { labels: {} },
      { labels: managedLabels, annotations: { 'node-affinity-mutate.kube-reflex.dev/skip': 'true' } },
      { labels: managedLabels, annotations: { 'node-affinity-mutate.kube-reflex.dev/pool': 'speed=high' } },
      { labels: managedLabels, annotations: { 'node-affinity-mutate.kube-reflex.dev/pool': 'a=b=c' } },
    ]) {
      const present = world.sandbox.api.get(namespaces, 'shop');
      await world.sandbox.api.update(namespaces, { ...present, metadata: { ...present?.metadata, ...metadata } });
      await world.tell('Namespace', 'shop');
      reasons.push((await world.decisionFor()).auditAnnotations);
    }

    expect(reasons).toEqual([
      { decision: 'unmanaged-namespace' },
      { decision: 'opted-out' },
      { decision: 'mutated', rule: 'namespace' },
      { decision: 'mutated', rule: 'default' },
    ]);
  });

  it('a pass without a difference reads what it must and writes nothing', async () => {
    world = await openWorld();
    await world.addNode('worker');
    await world.tick();
    world.calls.length = 0;

    await world.tick();
    const full = world.calls.splice(0).map(({ verb, resource }) => `${verb} ${resource}`);
    await world.tell('Namespace', 'shop');
    const narrow = world.calls.splice(0).map(({ verb, resource }) => `${verb} ${resource}`);

    expect(full).toEqual(['get configmaps', 'get configmaps', 'list namespaces', 'list nodes']);
    expect(narrow).toEqual(['get configmaps', 'get namespaces']);
  });
});

describe('rules in the ConfigMap', () => {
  const rules = `
- name: fast
  match: { podSelector: { matchLabels: { app: web } } }
  pool: { key: speed, values: [high] }
  weight: 50
  tolerations: [{ key: fast, operator: Exists }]
`;
  const values = Array.from({ length: 100 }, (_, index) => String(index).padStart(63, '0'));
  const aliased = [
    `- { name: rule, pool: &long { key: speed, values: ${JSON.stringify(values)} } }`,
    ...values.slice(0, 60).map((_, index) => `- { name: rule-${index}, pool: *long }`),
  ].join('\n');

  it('take the place of the settings', async () => {
    world = await openWorld();
    await world.addNode('fast', { speed: 'high' });
    await world.writeRules(rules);

    await world.tell('ConfigMap', 'node-affinity-mutate');

    const web = await world.decisionFor(creating(podWith({}, { labels: { app: 'web' } })));
    const other = await world.decisionFor(creating(podWith()));
    expect(web.auditAnnotations).toEqual({ decision: 'mutated', rule: 'fast' });
    expect(other.auditAnnotations).toEqual({ decision: 'no-rule' });
    expect(await world.metric('config_valid')).toBe(1);
  });

  it.each([
    ['weight 0', 'weight: 50', 'weight: 0', 'rules.yaml: [0].weight must be a whole number from 1 to 100'],
    ['a bad key', 'key: speed', 'key: "sp eed"', 'rules.yaml: [0].pool.key must be a label key'],
    ['an unknown operator', 'operator: Exists', 'operator: Is', 'rules.yaml: [0].tolerations[0].operator'],
    ['an unknown field', 'weight: 50', 'wieght: 50', 'rules.yaml: [0] must not have the field "wieght"'],
    ['no YAML', 'weight: 50', 'weight: {', 'rules.yaml: '],
    [
      'an asterisk without quotes',
      'match: {',
      'match: { namespaces: [*-prod],',
      '-prod (quote a text that begins with *)',
    ],
    ['a text that aliases make too long', rules, aliased, 'rules.yaml: must not be longer than 262144 characters'],
    ['very much wrong', rules, '- {}\n'.repeat(100), 'rules.yaml: [0].name must be given'],
  ])('NA-61 with %s the last good ones stay, and the field is named', async (_what, good, bad, problem) => {
    world = await openWorld();
    await world.addNode('fast', { speed: 'high' });
    await world.writeRules(rules);
    await world.tick();

    await world.writeRules(rules.replace(good, bad));
    const { status } = await world.tell('ConfigMap', 'node-affinity-mutate');
    await world.tick();

    const web = await world.decisionFor(creating(podWith({}, { labels: { app: 'web' } })));
    const told = world.sandbox.api.list({ group: 'events.k8s.io', plural: 'events' }) as { note?: string }[];
    expect(status).toBe(204);
    expect(web.auditAnnotations).toEqual({ decision: 'mutated', rule: 'fast' });
    expect(await world.metric('config_valid')).toBe(0);
    expect(told.map(({ note }) => note)).toEqual([expect.stringContaining(problem)]);
    expect(world.state()?.['config.json']?.length).toBeLessThan(2_000);
  });

  it('leave the field to the settings again when they are deleted', async () => {
    world = await openWorld();
    await world.addNode('worker');
    await world.writeRules(rules);
    await world.tick();

    await world.sandbox.api.remove(configMaps, { name: 'node-affinity-mutate', namespace: 'kube-reflex' });
    await world.tell('ConfigMap', 'node-affinity-mutate', 'delete');

    expect((await world.decisionFor()).auditAnnotations).toEqual({ decision: 'mutated', rule: 'default' });
  });
});

describe('admission', () => {
  it('NA-24 a dry run gets the same patch and causes no write', async () => {
    world = await openWorld();
    await world.addNode('worker');
    await world.tick();
    world.calls.length = 0;

    const wet = await world.decisionFor();
    const dry = await world.decisionFor(creating(podWith(), { dryRun: true }));

    expect(dry).toEqual(wet);
    expect(world.calls).toEqual([]);
    expect(await world.metric('admission_requests_total{result="mutated",reason="mutated",dry_run="true"}')).toBe(1);
  });

  it.each([
    ['NA-25 half a body', '{', 400],
    [
      'NA-26 another kind',
      JSON.stringify({ apiVersion: 'admission.k8s.io/v1', kind: 'Foo', request: { uid: 'x' } }),
      400,
    ],
    ['NA-27 no request', JSON.stringify({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview' }), 400],
    [
      'NA-28 a version nobody knows',
      JSON.stringify({ apiVersion: 'admission.k8s.io/v2', kind: 'AdmissionReview', request: { uid: 'x' } }),
      400,
    ],
  ])('%s is answered by its status', async (_what, body, expected) => {
    world = await openWorld();

    expect((await world.ask({}, { body })).status).toBe(expected);
  });

  it('NA-29 v1beta1 is answered in v1beta1', async () => {
    world = await openWorld();
    const apiVersion = 'admission.k8s.io/v1beta1';

    const body = JSON.stringify({ apiVersion, kind: 'AdmissionReview', request: creating(podWith()) });
    const answer = await world.ask({}, { body });

    expect(JSON.parse(answer.body)).toMatchObject({ apiVersion, response: { uid: 'u-1', allowed: true } });
  });

  it('NA-34 without a change the answer has neither patch nor patchType', async () => {
    world = await openWorld();

    const answer = await world.decisionFor();

    expect(Object.keys(answer).sort()).toEqual(['allowed', 'auditAnnotations', 'uid']);
  });

  it('NA-35 an unusual uid is echoed exactly', async () => {
    world = await openWorld();
    const uid = '"\\u0000 ü\u2028 ../\u{1F600}';

    expect((await world.decisionFor(creating(podWith(), { uid }))).uid).toBe(uid);
  });

  it('NA-36 when the decision fails the pod goes its way, and it is counted', async () => {
    world = await openWorld({ subject: failing });

    const answer = await world.decisionFor();

    expect(answer).toEqual({ uid: 'u-1', allowed: true, auditAnnotations: { decision: 'error', error: 'TypeError' } });
    expect(await world.metric('admission_requests_total{result="error",reason="TypeError"')).toBe(1);
  });

  it('answers on the path of kim-snatch too, whatever the query', async () => {
    world = await openWorld();

    const { status } = await world.ask(undefined, { path: '/mutate--v1-pod?timeout=3s' });

    expect(status).toBe(200);
  });

  it('a start while the API server is away serves from the mounted state, and is ready', async () => {
    world = await openWorld();
    await world.addNode('worker');
    await world.tick();
    const directory = await mkdtemp(join(tmpdir(), 'state-'));
    for (const [key, text] of Object.entries(world.state() ?? {})) {
      await writeFile(join(directory, key), text);
    }
    await world[Symbol.asyncDispose]();

    world = await openWorld({ access: noCluster, environment: { STATE_DIR: directory } });
    await untilReady(world);
    const answer = await world.decisionFor();
    await rm(directory, { recursive: true });

    expect(answer.patch).toBeDefined();
  });

  it('a start with nothing at all changes nothing, and is ready', async () => {
    world = await openWorld({ access: noCluster });
    await untilReady(world);

    expect((await world.decisionFor()).auditAnnotations).toEqual({ decision: 'pool-absent' });
  });

  it('a replica reads what another found out', async () => {
    world = await openWorld({ environment: { REFRESH_SECONDS: '1' } });
    await world.addNode('worker');
    const state = {
      'pools.json': JSON.stringify({ [`${poolKey}=${pool}`]: { active: true, seen: true, since: 'now' } }),
    };
    await world.sandbox.api.create(configMaps, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'node-affinity-mutate-state', namespace: 'kube-reflex' },
      data: state,
    } as KubeObject);

    await until(async () => (await world.decisionFor()).patch !== undefined);
  });

  it('a state that a later release wrote leaves in force what is known', async () => {
    world = await openWorld({ environment: { REFRESH_SECONDS: '1' } });
    await world.addNode('worker');
    await world.tick();
    const stored = world.sandbox.api.get(configMaps, 'node-affinity-mutate-state', 'kube-reflex');
    const data = { 'config.json': JSON.stringify({ schema: 2 }) };
    await world.sandbox.api.update(configMaps, { ...stored, data } as KubeObject);
    world.calls.length = 0;

    await until(() => Promise.resolve(world.calls.filter(({ verb }) => verb === 'get').length > 1));

    expect((await world.decisionFor()).patch).toBeDefined();
  });

  it('a pod that is created in the cluster is changed on its way, unless the API server knows better', async () => {
    world = await openWorld();
    await world.addNode('worker');
    await world.tick();
    await installWebhook(world);

    const changed = await createPod(world, 'shop', podWith({}, { name: 'a' }));
    const scheduled = await createPod(world, 'shop', podWith({ nodeName: 'worker' }, { name: 'b' }));
    const elsewhere = await createPod(world, 'default', podWith({}, { name: 'c' }));

    expect(changed).toMatchObject({ spec: { affinity: { nodeAffinity: { [preferredField]: [ourTerm] } } } });
    expect(scheduled).not.toHaveProperty('spec.affinity');
    expect(elsewhere).not.toHaveProperty('spec.affinity');
    expect(await world.metric('admission_requests_total')).toBe(1);
  });
});

describe('POST /explain', () => {
  it('says which rule did what and why', async () => {
    world = await openWorld();
    await world.addNode('worker');
    await world.tick();

    const answer = await explain(podWith({}, { namespace: 'shop' }));

    expect(answer).toMatchObject({
      reason: 'mutated',
      rules: ['default'],
      namespace: 'shop',
      namespaceKnown: true,
      considered: [
        { rule: 'default', mode: 'preferred', pool: `${poolKey}=${pool}`, poolActive: true, outcome: 'applied' },
      ],
      patch: [{ op: 'add', path: '/spec/affinity' }],
    });
  });

  it('takes a whole review, and says what is wrong with anything else', async () => {
    world = await openWorld();

    const review = { kind: 'AdmissionReview', request: creating(podWith(), { operation: 'UPDATE' }) };

    expect(await explain(review)).toMatchObject({ reason: 'operation' });
    expect(await explain({ kind: 'Deployment' })).toContain('send a Pod or an AdmissionReview');
  });

  async function explain(body: object): Promise<unknown> {
    const response = await fetch(new URL('/explain', world.app.url), { method: 'POST', body: JSON.stringify(body) });
    const text = await response.text();
    return response.ok ? JSON.parse(text) : text;
  }
});

/** The function with a fault in the midst of its decision. */
const failing = {
  ...definition,
  admit: (...given: Parameters<NonNullable<typeof definition.admit>>) =>
    (definition.admit?.(...given) ?? []).map((admission) => ({
      ...admission,
      decide: (request: Parameters<typeof admission.decide>[0], context: Parameters<typeof admission.decide>[1]) => {
        const poisoned = Object.defineProperty({ ...request }, 'object', {
          get: () => {
            throw new TypeError('injected');
          },
        });
        return admission.decide(poisoned, context);
      },
    })),
};

function patched({ patch = '' }: { readonly patch?: string }): unknown {
  const operations = JSON.parse(Buffer.from(patch, 'base64').toString()) as { op: string; path: string }[];
  return JSON.parse(applyAdditions(JSON.stringify(podWith()), operations).after);
}

function namespaceNamed(name: string): KubeObject {
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
}

async function untilReady({ app }: World): Promise<void> {
  await until(async () => (await fetch(new URL('/health/readiness', app.url))).status === 200);
}

async function until(isTrue: () => Promise<boolean>): Promise<void> {
  while (!(await isTrue())) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

async function createPod({ sandbox }: World, namespace: string, pod: object): Promise<KubeObject> {
  const { metadata } = pod as KubeObject;
  return sandbox.api.create(pods, { ...pod, metadata: { ...metadata, namespace } });
}
