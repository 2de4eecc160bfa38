import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { changeFreezes, type ChangeFreeze } from '../policy.ts';
import { deployments, namespaces } from '../../../lib/kube/model/resource.ts';
import { monotonicMs } from '../../../lib/base/monotonic.ts';
import type { AdmissionResponse } from '../../../lib/kube/model/review.ts';
import { waitUntil } from '../../../test/real/parts/wait.ts';
import { send } from '../../../test/support/http.ts';
import { freeze, namespaceNamed } from './objects.ts';
import { creation, deployment, openGate, rollout, scale, type Gate } from './reviews.ts';
import { openWorld, type World } from './world.ts';

const christmas = ['2026-12-24T00:00:00Z', '2026-12-27T00:00:00Z'] as const;

let world: World;
let gate: Gate;

beforeEach(async () => {
  world = await openWorld({ at: '2026-12-25T12:00:00Z' });
  await world.create(namespaces, namespaceNamed('prod', { env: 'prod' }));
  await world.create(deployments, deployment());
  await world.create(changeFreezes, freeze('holiday', christmas, { rules: { deny: ['ROLL_OUT', 'SCALE'] } }));
});
afterEach(async () => {
  await gate.close();
  await world.close();
});

/** Five times the webhook's own limit, and less than the client would wait for a read. */
const hangMs = 10_000;

/** The answer, and how long it took. */
async function timed(request: Parameters<Gate['ask']>[0]): Promise<AdmissionResponse & { readonly ms: number }> {
  const began = monotonicMs();
  return { ...(await gate.ask(request)), ms: monotonicMs() - began };
}

describe('while the API server does not answer', () => {
  it.each([
    ['changefreezes', rollout, 'changefreezes could not be read in time'],
    ['maintenancewindows', rollout, 'maintenancewindows could not be read in time'],
    ['namespaces', rollout, 'namespace prod could not be read in time'],
    ['deployments', scale, 'Deployment web could not be read in time'],
  ])('a read of %s that hangs is refused in time, and holds up no later review', async (resource, request, message) => {
    gate = await openGate(world, { environment: { POLICY_MAX_AGE: '1s', WEBHOOK_TIMEOUT_SECONDS: '2' } });
    world.sandbox.faults.add({ resource, times: 1, effect: { do: 'hang' } });

    const hung = await timed(request);
    const next = await timed(request);

    expect(hung).toMatchObject({ allowed: false, status: { code: 500, message: `freeze-check: ${message}` } });
    expect(hung.ms).toBeLessThan(hangMs);
    expect(next).toMatchObject({ allowed: false, status: { code: 403 } });
  });

  it('reads that follow each other, each fast enough, are refused in time when they are too slow together', async () => {
    await world.edit(deployments, { name: 'web', namespace: 'prod' }, ({ metadata, ...rest }) => ({
      ...rest,
      metadata: { ...metadata, annotations: { 'freeze-check.kube-reflex.dev/bypass-reason': 'outage' } },
    }));
    gate = await openGate(world, { environment: { WEBHOOK_TIMEOUT_SECONDS: '2' } });
    for (const resource of ['deployments', 'changefreezes', 'subjectaccessreviews']) {
      world.sandbox.faults.add({ resource, effect: { do: 'delay', ms: 700 } });
    }

    const { ms, ...answer } = await timed(scale);

    expect(answer).toMatchObject({ allowed: false, status: { code: 500 } });
    expect(ms).toBeLessThan(hangMs);
  });

  it('FC-61 exceptions that hang are none: the change is refused as in a freeze without them', async () => {
    gate = await openGate(world, { environment: { WEBHOOK_TIMEOUT_SECONDS: '2' } });
    world.sandbox.faults.add({ resource: 'freezeexceptions', effect: { do: 'hang' } });

    expect(await timed(rollout)).toMatchObject({ allowed: false, status: { code: 403 } });
  });

  it('what it has read serves for as long as it may, and not a moment longer', async () => {
    gate = await openGate(world, { environment: { POLICY_MAX_AGE: '5s' } });
    await gate.ask(creation());
    world.sandbox.faults.add({ effect: { do: 'refuse', status: 503 } });

    const young = await gate.ask(creation());
    await waitUntil('what was read is too old', async () => !(await gate.ask(creation())).allowed);

    expect(young.allowed).toBe(true);
    expect(await gate.ask(creation())).toMatchObject({ allowed: false, status: { code: 500 } });
  });

  it('no review is sent to a replica that has not read the policies yet', async () => {
    world.sandbox.faults.add({ resource: 'changefreezes', effect: { do: 'refuse', status: 503 } });
    gate = await openGate(world);
    async function readiness(): Promise<string> {
      const { status, body } = await send(gate.app.url, { method: 'GET', path: '/health/readiness' });
      return `${status} ${body}`;
    }

    const before = [await readiness(), await readiness()];
    world.sandbox.faults.clear();
    await waitUntil('it is ready', async () => (await readiness()).startsWith('200'));

    expect(before).toEqual(before.map(() => expect.stringMatching(/^503 .*the policies have not been read yet/)));
  });

  it('FC-12 what is left of a namespace that goes passes, though the policies can not be read', async () => {
    await world.create(namespaces, {
      metadata: { name: 'leaving', finalizers: ['example.com/wait'], deletionTimestamp: '2026-12-25T11:00:00Z' },
    });
    await world.remove(namespaces, 'leaving');
    gate = await openGate(world);
    world.sandbox.faults.add({ resource: 'changefreezes', effect: { do: 'refuse', status: 503 } });

    expect(await gate.ask({ ...rollout, namespace: 'leaving' })).toMatchObject({ allowed: true });
  });

  it('FC-13 a namespace that was not there is looked for again by the next review', async () => {
    gate = await openGate(world, { environment: { POLICY_MAX_AGE: '1h' } });
    const before = await gate.ask({ ...creation(), namespace: 'new' });
    await world.create(namespaces, namespaceNamed('new', {}));

    expect(before).toMatchObject({ allowed: false, status: { code: 500 } });
    expect(await gate.ask({ ...creation(), namespace: 'new' })).toMatchObject({ allowed: true });
  });
});

describe('a policy that got in malformed', () => {
  it('keeps no replica from getting ready: reviews name it, and it can be mended', async () => {
    await world.close();
    world = await openWorld({ at: '2026-12-25T12:00:00Z', lax: true });
    await world.create(namespaces, namespaceNamed('prod', { env: 'prod' }));
    const { spec } = freeze('broken', christmas);
    const { rules: _rules, ...rest } = spec;
    await world.create(changeFreezes, { metadata: { name: 'broken' }, spec: rest } as ChangeFreeze);
    gate = await openGate(world, { environment: { POLICY_MAX_AGE: '1s' } });

    await waitUntil('it is ready', async () => {
      const { status } = await send(gate.app.url, { method: 'GET', path: '/health/readiness' });
      return status === 200;
    });
    const refused = await gate.ask(rollout);
    const mending = await gate.ask(
      { operation: 'UPDATE', object: freeze('broken', christmas), oldObject: null },
      '/validate-freeze-operator-io-v1alpha1-changefreeze',
    );

    expect(refused).toMatchObject({
      allowed: false,
      status: {
        code: 500,
        message: expect.stringContaining('ChangeFreeze/broken must be mended or deleted: spec.rules'),
      },
    });
    expect(mending).toMatchObject({ allowed: true });
  });
});
