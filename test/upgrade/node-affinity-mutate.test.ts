import { afterEach, describe, expect, it } from '@jest/globals';
import { creating, podWith } from '../../functions/node-affinity-mutate/testing/pods.ts';
import { keptBy, type Kept } from './kept.ts';
import { openKept, type Site } from './scenarios/node-affinity-mutate.ts';

let site: Site;

afterEach(async () => site[Symbol.asyncDispose]());

function kept(...scenarios: readonly string[]): readonly Kept[] {
  return scenarios.flatMap((scenario) => keptBy('node-affinity-mutate', scenario));
}

/** What becomes of a pod with this label. */
async function decisionFor(app: string, namespace = 'shop'): Promise<Readonly<Record<string, string>> | undefined> {
  const request = { ...creating(podWith({}, { labels: { app } })), namespace };
  return (await site.world.decisionFor(request)).auditAnnotations;
}

/** Asks until the function has read its state by itself, without an event. */
async function firstDecision(app: string, namespace?: string): Promise<Readonly<Record<string, string>> | undefined> {
  for (let tries = 0; tries < 100; tries += 1) {
    const found = await decisionFor(app, namespace);
    if (found?.['decision'] === 'mutated') {
      return found;
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return decisionFor(app, namespace);
}

const byFast = { decision: 'mutated', rule: 'fast' };

describe('node-affinity-mutate over what a version left', () => {
  it.each(kept('at-rest', 'grace', 'wrong-rules', 'plain'))(
    '$version $scenario: writes nothing where nothing changed',
    async (left) => {
      site = await openKept(left);
      const { world } = site;

      expect((await world.tick()).status).toBe(204);
      expect(world.calls.filter(({ verb }) => verb !== 'get' && verb !== 'list')).toEqual([]);
    },
  );

  it.each(kept('at-rest', 'grace', 'wrong-rules'))(
    '$version $scenario: admission decides by the state before anything else was looked at',
    async (left) => {
      site = await openKept(left, { REFRESH_SECONDS: '1' });

      expect(await firstDecision('web')).toMatchObject(byFast);
      expect(await decisionFor('db')).toMatchObject({ decision: 'pool-absent' });
      expect(await decisionFor('other')).toMatchObject({ decision: 'no-rule' });
      expect(await decisionFor('web', 'quiet')).toMatchObject({ decision: 'opted-out' });
      expect(await decisionFor('other', 'special')).toMatchObject({ decision: 'mutated' });
    },
  );

  it.each(kept('plain'))('$version $scenario: admission goes on by the settings', async (left) => {
    site = await openKept(left, { REFRESH_SECONDS: '1' });

    expect(await firstDecision('web')).toMatchObject({ decision: 'mutated', rule: 'default' });
  });

  it.each(kept('grace'))('$version $scenario: a pool counts for the rest of its grace, and no longer', async (left) => {
    site = await openKept(left);
    const { world, turn } = site;
    turn(120);
    await world.tick();
    const within = await decisionFor('web');
    turn(130); // 310 seconds after the last node
    await world.tick();

    expect(within).toMatchObject(byFast);
    expect(await decisionFor('web')).toMatchObject({ decision: 'pool-absent' });
  });

  it.each(kept('wrong-rules'))(
    '$version $scenario: the last good rules stay in force, and no Event says so again',
    async (left) => {
      site = await openKept(left);
      await site.world.tick();

      expect(await decisionFor('web')).toMatchObject(byFast);
      expect(site.world.sandbox.api.list({ group: 'events.k8s.io', plural: 'events' })).toEqual([]);
    },
  );
});
