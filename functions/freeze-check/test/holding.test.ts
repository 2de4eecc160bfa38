import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { Call } from '../../../lib/kube/client.ts';
import { cronJobs, events, namespaces, type Resource } from '../../../lib/kube/model/resource.ts';
import type { KubeObject } from '../../../lib/kube/model/wire.ts';
import { applications } from '../hold/application.ts';
import { kustomizations } from '../hold/flux.ts';
import freezeCheck from '../index.ts';
import { changeFreezes } from '../policy.ts';
import { leaving } from '../../../test/release/cluster.ts';
import { application, cronJob, freeze, namespaceNamed, pausing, suspending } from './objects.ts';
import { lasting, openWorld, type World } from './world.ts';

const start = '2026-12-24T00:00:00Z';
const end = '2026-12-26T00:00:00Z';
const automated = { prune: true, selfHeal: true };

let world: World;

beforeEach(async () => {
  world = await openWorld({ at: '2026-12-25T11:00:00Z', kinds: [applications, kustomizations] });
  await world.create(namespaces, namespaceNamed('prod', { env: 'prod' }));
  await world.create(namespaces, namespaceNamed('argocd', {}));
});
afterEach(() => world.close());

interface Place {
  readonly resource: Resource;
  readonly name: string;
  readonly namespace: string;
}

const report: Place = { resource: cronJobs, name: 'report', namespace: 'prod' };
const shop: Place = { resource: applications, name: 'shop', namespace: 'argocd' };
const fleet: Place = { resource: kustomizations, name: 'fleet', namespace: 'argocd' };

function now({ resource, name, namespace }: Place): KubeObject {
  return world.get(resource, name, namespace);
}

function isHeld(place: Place): boolean {
  return now(place).metadata?.annotations?.['freeze-operator.io/managed-by-kind'] !== undefined;
}

/** One object of each kind under a freeze of all of them, as they were made. */
async function makeHoldable(): Promise<readonly object[]> {
  const made = [
    await world.create(cronJobs, cronJob('report')),
    await world.create(applications, application('shop', automated)),
    await world.create(kustomizations, { metadata: { name: 'fleet', namespace: 'argocd' }, spec: {} }),
  ];
  await world.create(changeFreezes, freeze('holiday', [start, end], { behavior: { ...suspending, ...pausing } }));
  return made.map(lasting);
}

/** As where the right to list them was taken away. */
function refuseApplications(): void {
  const message =
    'applications.argoproj.io is forbidden: User "x" cannot list resource "applications" in API group "argoproj.io" at the cluster scope';
  world.sandbox.faults.add({ resource: 'applications', effect: { do: 'refuse', status: 403, message } });
}

describe('objects that a freeze holds', () => {
  it('are held although a kind beside them can’t be read; the policy says which, and counts as before', async () => {
    await makeHoldable();
    const replica = await world.replica();
    await replica.tick();
    const counted = world.get(changeFreezes, 'holiday').status?.gitopsPausedCount;
    await world.create(cronJobs, cronJob('late'));
    refuseApplications();

    const status = await replica.tick();

    const told = world.sandbox.api.list(events) as readonly { reason?: string; note?: string }[];
    expect([status, isHeld({ ...report, name: 'late' })]).toEqual([503, true]);
    expect(told.filter(({ reason }) => reason === 'GitOpsReconcileFailed').map(({ note }) => note)).toEqual([
      expect.stringContaining('list applications'),
    ]);
    expect([counted, world.get(changeFreezes, 'holiday').status?.gitopsPausedCount]).toEqual([2, 2]);
  });

  it('are counted anew for policies that do not ask for the kind that can’t be read', async () => {
    await world.create(kustomizations, { metadata: { name: 'fleet', namespace: 'argocd' }, spec: {} });
    const gitops = { enabled: true, providers: ['flux' as const], flux: {} };
    await world.create(changeFreezes, freeze('flux-only', [start, end], { behavior: { gitops } }));
    refuseApplications();

    await (await world.replica()).tick();

    expect(world.get(changeFreezes, 'flux-only').status?.gitopsPausedCount).toBe(1);
  });

  it('are given back when the freeze ends although a kind beside them can’t be read, which is tried again', async () => {
    const [made] = await makeHoldable();
    const replica = await world.replica();
    await replica.tick();
    world.turnTo(end);
    world.sandbox.faults.add({ resource: 'applications', effect: { do: 'refuse', status: 503 } });

    const status = await replica.tick();
    const without = [lasting(now(report)), isHeld(shop), isHeld(fleet)];
    world.sandbox.faults.clear();
    await replica.tick();

    expect([status, ...without]).toEqual([503, made, true, false]);
    expect(isHeld(shop)).toBe(false);
  });

  it('are given back when freeze-check leaves although a kind beside them can’t be read, which it names', async () => {
    await makeHoldable();
    await (await world.replica()).tick();
    refuseApplications();

    const { remains } = await leaving(world.sandbox, freezeCheck, { patienceMs: 0 });

    expect(remains).toEqual([expect.stringContaining('list applications')]);
    expect([report, shop, fleet].map(isHeld)).toEqual([false, true, false]);
  });

  it('are named by a dry run of leaving, with the kind that can’t be read, and stay held', async () => {
    await makeHoldable();
    await (await world.replica()).tick();
    refuseApplications();

    const { steps, remains } = await leaving(world.sandbox, freezeCheck, { dryRun: true });

    expect(remains).toEqual([expect.stringContaining('list applications')]);
    expect(steps).toEqual(
      expect.arrayContaining([
        'would patch CronJob prod/report',
        'would patch Kustomization argocd/fleet',
        'would delete ConfigMap kube-reflex/freeze-check-state',
      ]),
    );
    expect([report, shop, fleet].map(isHeld)).toEqual([true, true, true]);
  });

  it('stay held when their provider is taken off the list, and are given back once it is there again', async () => {
    const [, , made] = await makeHoldable();
    await (await world.replica({ name: 'before' })).tick();
    const narrowed = await world.replica({ name: 'narrowed', environment: { GITOPS_PROVIDERS: 'argocd' } });
    const widened = await world.replica({ name: 'widened' });

    world.turnTo(end);
    const status = await narrowed.tick();
    const without = [report, shop, fleet].map(isHeld);
    await widened.tick();

    expect([status, without]).toEqual([204, [false, false, true]]);
    expect(lasting(now(fleet))).toEqual(made);
  });

  it.each([
    ['while the freeze is on', ['2026-12-25T12:00:00Z', end]],
    ['and the freeze ends before anybody looks', [end]],
  ])('get back what was noted on them where the name of the policy is lost, %s', async (_when, times) => {
    const made = await makeHoldable();
    const replica = await world.replica();
    await replica.tick();
    for (const { resource, name, namespace } of [report, shop, fleet]) {
      await world.edit(resource, { name, namespace }, ({ metadata, ...rest }) => ({
        ...rest,
        metadata: { ...metadata, annotations: notesIn(metadata?.annotations) },
      }));
    }

    for (const time of times) {
      world.turnTo(time);
      await replica.tick();
    }

    expect([report, shop, fleet].map((place) => lasting(now(place)))).toEqual(made);
  });

  it('cost a pass that finds nothing to do one call for each kind that it looks at, and one for what it has written down', async () => {
    await makeHoldable();
    const calls: string[] = [];
    const replica = await world.replica({
      observe: ({ verb, resource }: Call) => calls.push(`${verb} ${resource.split('.')[0] ?? ''}`),
    });
    await replica.tick();
    calls.length = 0;

    await replica.tick();

    expect(calls.toSorted()).toEqual([
      'get configmaps',
      'list applications',
      'list changefreezes',
      'list cronjobs',
      'list freezeexceptions',
      'list helmreleases',
      'list kustomizations',
      'list maintenancewindows',
      'list namespaces',
    ]);
  });
});

function notesIn(annotations: Readonly<Record<string, string>> = {}): Record<string, string> {
  return Object.fromEntries(Object.entries(annotations).filter(([key]) => key.includes('/original-')));
}
