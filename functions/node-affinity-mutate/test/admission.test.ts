import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import definition from '../index.ts';
import { preferredField } from '../placement.ts';
import { creating, ourTerm, podWith, pool, poolKey } from '../testing/pods.ts';
import { configMaps, pods } from '../../../lib/kube/model/resource.ts';
import type { KubeObject } from '../../../lib/kube/model/wire.ts';
import { noCluster } from '../../../test/support/http.ts';
import { installWebhook, openWorld, type World } from './world.ts';

let world: World;

afterEach(async () => {
  await world[Symbol.asyncDispose]();
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
