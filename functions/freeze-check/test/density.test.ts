import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { maintenanceWindows } from '../policy.ts';
import { namespaces } from '../../../lib/kube/model/resource.ts';
import { namespaceNamed, nightly } from './objects.ts';
import { openGate, rollout, type Gate } from './reviews.ts';
import { openWorld, type World } from './world.ts';

let world: World;
let gate: Gate;

beforeAll(async () => {
  world = await openWorld({ at: '2026-12-25T12:10:00Z' });
  await windowed('daily', Array<string>(300).fill('0 1 * * *'));
  await windowed('dense', Array<string>(300).fill('*/3 1-6 * * *'));
  await windowed('meeting', ['0 * * * *', '0 * * * *']);
  await windowed('apart', ['0 * * * *', '30 * * * *']);
  gate = await openGate(world, { environment: { POLICY_MAX_AGE: '1h' } });
});
afterAll(async () => {
  await gate.close();
  await world.close();
});

/** A namespace whose rollouts are refused outside windows, of one policy for each schedule. */
async function windowed(name: string, schedules: readonly string[]): Promise<void> {
  await world.create(namespaces, namespaceNamed(name, { env: name }));
  for (const [index, schedule] of schedules.entries()) {
    const target = { kinds: ['Deployment'] as const, namespaceSelector: { matchLabels: { env: name } } };
    const windows = [{ name: 'only', schedule, duration: '3m' }];
    await world.create(maintenanceWindows, nightly(`${name}-${index}`, { windows, target }));
  }
}

/** The fastest of many reviews, which take turns: what interrupts one of them does not count. */
async function fastest(...names: readonly string[]): Promise<readonly number[]> {
  const best = names.map(() => Infinity);
  for (let round = 0; round < 60; round += 1) {
    for (const [index, namespace] of names.entries()) {
      const started = performance.now();
      const { allowed } = await gate.ask({ ...rollout, namespace });
      best[index] = Math.min(best[index] ?? Infinity, performance.now() - started);
      expect(allowed).toBe(false);
    }
  }
  return best;
}

describe('a refusal', () => {
  it('FC-78 of 300 policies takes as long whether windows open daily or every three minutes, from the request to the answer', async () => {
    const [daily = 0, dense = Infinity] = await fastest('daily', 'dense');

    expect(dense / daily).toBeLessThan(2);
  });

  it('takes as long where the windows of two policies never meet as where they do', async () => {
    const [meeting = 0, apart = Infinity] = await fastest('meeting', 'apart');

    expect(apart / meeting).toBeLessThan(2);
  });
});
