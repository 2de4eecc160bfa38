import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { changeFreezes } from '../../functions/freeze-check/policy.ts';
import { namespaces } from '../../lib/kube/resource.ts';
import { freeze, namespaceNamed } from './objects.ts';
import { openWorld, type World } from './world.ts';

let world: World;
let url: string;

beforeAll(async () => {
  world = await openWorld({ at: '2026-12-25T12:00:00Z' });
  await world.create(namespaces, namespaceNamed('prod', { env: 'prod' }));
  await world.create(changeFreezes, freeze('holiday', ['2026-12-24T00:00:00Z', '2026-12-27T00:00:00Z']));
  const { app } = await world.replica();
  url = app.url.href;
});
afterAll(() => world.close());

async function canI(...options: readonly string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  try {
    const command = ['lib/cli/can-i.ts', ...options];
    const environment = { ...process.env, FREEZE_API_URL: url };
    return { code: 0, ...(await promisify(execFile)(process.execPath, command, { env: environment })) };
  } catch (error) {
    return error as { code: number; stdout: string; stderr: string };
  }
}

it('FC-76 can-i says no with exit code 1, yes with 0, and 2 where it can not tell', async () => {
  const [no, yes, wrong, away, json] = await Promise.all([
    canI('-n', 'prod', '-k', 'Deployment', '-a', 'ROLL_OUT'),
    canI('-n', 'prod', '-k', 'Deployment', '-a', 'SCALE'),
    canI('-n', 'prod', '-k', 'Pod', '-a', 'SCALE'),
    canI('-n', 'prod', '-k', 'Deployment', '-a', 'SCALE', '--api-url', 'http://127.0.0.1:9'),
    canI('-n', 'prod', '-k', 'Deployment', '-a', 'ROLL_OUT', '--at', '2026-12-28T00:00:00Z', '--json'),
  ]);

  expect([no.code, no.stdout]).toEqual([
    1,
    'no: ChangeFreeze/holiday: ChangeFreeze is active; next allowed at 2026-12-27T00:00:00Z\n',
  ]);
  expect([yes.code, yes.stdout]).toEqual([0, 'yes\n']);
  expect([wrong.code, wrong.stderr]).toEqual([
    2,
    'can-i: unsupported kind: Pod; valid: Deployment, StatefulSet, DaemonSet, CronJob\n',
  ]);
  expect([away.code, away.stdout]).toEqual([2, '']);
  expect(JSON.parse(json.stdout)).toMatchObject({ allow: true, evaluatedAt: '2026-12-28T00:00:00Z' });
});
