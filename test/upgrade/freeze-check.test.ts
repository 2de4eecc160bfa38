import { afterEach, describe, expect, it } from '@jest/globals';
import { applications } from '../../functions/freeze-check/hold/application.ts';
import { helmReleases, kustomizations } from '../../functions/freeze-check/hold/flux.ts';
import { changeFreezes } from '../../functions/freeze-check/policy.ts';
import type { Call } from '../../lib/kube/client.ts';
import { configMaps, cronJobs } from '../../lib/kube/model/resource.ts';
import type { KubeObject } from '../../lib/kube/model/wire.ts';
import type { World } from '../../functions/freeze-check/test/world.ts';
import { keptBy } from './kept.ts';
import { automated, freezeEnd, openKept } from './scenarios/freeze-check.ts';

let world: World;

afterEach(() => world.close());

/** What was before the freeze, and has to be after it. */
const before = {
  'CronJob report': false,
  'CronJob retired': true,
  'Application manual': undefined,
  'Application owned': automated,
  'Application shop': automated,
  'Application soft': automated,
  'Kustomization web': undefined,
  'HelmRelease db': true,
};

const during = {
  ...before,
  'CronJob report': true,
  'Application owned': undefined,
  'Application shop': undefined,
  'Application soft': { ...automated, enabled: false },
  'Kustomization web': true,
};

/** How each object that a freeze may hold is set. */
function settingsOfAll(): Readonly<Record<string, unknown>> {
  const { api } = world.sandbox;
  const suspended = [cronJobs, kustomizations, helmReleases].flatMap((kind) =>
    (api.list(kind) as (KubeObject & { spec?: { suspend?: boolean } })[]).map(
      ({ metadata, spec }) => [`${kind.kind} ${metadata?.name ?? ''}`, spec?.suspend] as const,
    ),
  );
  const synced = api.list(applications).map(({ metadata }) => {
    const { spec } = world.get(applications, metadata?.name ?? '', 'argocd');
    return [`Application ${metadata?.name ?? ''}`, spec?.syncPolicy?.automated] as const;
  });
  return Object.fromEntries<unknown>([...suspended, ...synced]);
}

/** What is left of the function on objects and in its ledger. */
function traces(): readonly string[] {
  const { api } = world.sandbox;
  const objects = [cronJobs, applications, kustomizations, helmReleases].flatMap((kind) => api.list(kind));
  const marks = objects.flatMap(({ metadata }) => Object.keys(metadata?.annotations ?? {}));
  const { schema: _schema, ...entries } = world.get(configMaps, 'freeze-check-state', 'kube-reflex').data ?? {};
  return [...marks.filter((name) => name.startsWith('freeze-operator.io/')), ...Object.keys(entries)];
}

describe('freeze-check over what a version left', () => {
  it.each(keptBy('freeze-check', 'held'))('$version $scenario: touches nothing that is held already', async (left) => {
    world = await openKept(left);
    const calls: Call[] = [];
    const { tick } = await world.replica({ observe: (call) => calls.push(call) });

    expect(await tick()).toBe(204);

    expect(settingsOfAll()).toEqual(during);
    expect(calls.filter(({ verb }) => verb !== 'get' && verb !== 'list')).toEqual([]);
  });

  it.each(keptBy('freeze-check', 'held'))('$version $scenario: says of no policy that it has turned', async (left) => {
    world = await openKept(left);
    const turnedAt = transitions();
    world.turnTo('2026-12-25T13:00:00Z');

    await (await world.replica()).tick();

    expect(turnedAt.length).toBeGreaterThan(0);
    expect(transitions()).toEqual(turnedAt);
  });

  it.each(['held', 'stripped', 'noted'].flatMap((scenario) => keptBy('freeze-check', scenario)))(
    '$version $scenario: holds everything until the end of the freeze, then gives it back as it was',
    async (left) => {
      world = await openKept(left);
      const { tick } = await world.replica();
      await tick();
      const held = settingsOfAll();
      world.turnTo(freezeEnd);

      expect(await tick()).toBe(204);

      expect(held).toEqual(during);
      expect(settingsOfAll()).toEqual(before);
      expect(traces()).toEqual([]);
    },
  );

  it.each(['held', 'stripped', 'giving-back'].flatMap((scenario) => keptBy('freeze-check', scenario)))(
    '$version $scenario: gives everything back although it first looks after the end',
    async (left) => {
      world = await openKept(left);
      world.turnTo(freezeEnd);

      expect(await (await world.replica()).tick()).toBe(204);

      expect(settingsOfAll()).toEqual(before);
      expect(traces()).toEqual([]);
    },
  );
});

function transitions(): readonly unknown[] {
  return world.sandbox.api.list(changeFreezes).flatMap(({ metadata }) => {
    const { status } = world.get(changeFreezes, metadata?.name ?? '');
    return (status?.conditions ?? []).map(({ type, lastTransitionTime }) => [metadata?.name, type, lastTransitionTime]);
  });
}
