import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { changeFreezes, freezeExceptions } from '../policy.ts';
import { namespaces } from '../../../lib/kube/model/resource.ts';
import { exception, freeze, namespaceNamed } from './objects.ts';
import { openWorld, type World } from './world.ts';

let world: World;
let url: string;

beforeAll(async () => {
  world = await openWorld({ at: '2026-12-25T12:00:00Z' });
  await world.create(namespaces, namespaceNamed('prod', { env: 'prod' }));
  await world.create(changeFreezes, freeze('holiday', ['2026-12-24T00:00:00Z', '2026-12-27T00:00:00Z']));
  const { app } = await world.replica({ environment: { POLICY_MAX_AGE: '0s' } });
  url = app.url.href;
});
afterAll(() => world.close());

async function canI(...options: readonly string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  try {
    const command = ['lib/cli/bin/kube-reflex.ts', 'can-i', ...options];
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

it('FC-76 can-i can not tell where the labels of the workload decide', async () => {
  await world.create(
    changeFreezes,
    freeze('payments', ['2026-12-24T00:00:00Z', '2026-12-27T00:00:00Z'], {
      target: { kinds: ['StatefulSet'], objectSelector: { matchLabels: { app: 'pay' } } },
    }),
  );

  expect(await canI('-n', 'prod', '-k', 'StatefulSet', '-a', 'ROLL_OUT', '--at', '2026-12-25T13:00:00Z')).toMatchObject(
    {
      code: 2,
      stdout: 'unknown: it depends on the labels of the workload for ChangeFreeze/payments; give its --name\n',
    },
  );
});

it('FC-76 can-i says yes where labels could change nothing: no policy that is enforced may refuse', async () => {
  const days = ['2026-12-24T00:00:00Z', '2026-12-27T00:00:00Z'] as const;
  const target = { kinds: ['DaemonSet'], objectSelector: { matchLabels: { app: 'agent' } } } as const;
  const hotfix = exception('agents', days);
  const question = ['-n', 'prod', '-k', 'DaemonSet', '-a', 'ROLL_OUT', '--at', '2026-12-25T14:00:00Z'];
  await world.create(changeFreezes, freeze('agents-soon', days, { target, enforcement: 'Warn' }));
  await world.create(freezeExceptions, { ...hotfix, spec: { ...hotfix.spec, target } });

  const before = await canI(...question);
  await world.create(changeFreezes, freeze('agents-now', days, { target }));
  const after = await canI(...question);

  expect(before).toMatchObject({ code: 0, stdout: 'yes\n' });
  expect(after).toMatchObject({
    code: 2,
    stdout:
      'unknown: it depends on the labels of the workload for ChangeFreeze/agents-now, FreezeException/agents; give its --name\n',
  });
});

it('can-i answers as if the policies of a file were applied', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'kube-reflex-can-i-'));
  const file = join(directory, 'policies.yaml');
  const wrong = join(directory, 'wrong.yaml');
  const easter = ['2027-03-26T00:00:00Z', '2027-03-30T00:00:00Z'] as const;
  await writeFile(file, `---\n${JSON.stringify({ kind: 'ChangeFreeze', ...freeze('easter', easter) })}\n`);
  await writeFile(wrong, 'kind: Freeze');
  const question = ['-n', 'prod', '-k', 'Deployment', '-a', 'ROLL_OUT', '--at', '2027-03-27T12:00:00Z'];

  const [now, then, odd] = await Promise.all([
    canI(...question),
    canI(...question, '-f', file),
    canI(...question, '-f', wrong),
  ]);
  await rm(directory, { recursive: true });

  expect([now.code, now.stdout]).toEqual([0, 'yes\n']);
  expect([then.code, then.stdout]).toEqual([
    1,
    'no: ChangeFreeze/easter: ChangeFreeze is active; next allowed at 2027-03-30T00:00:00Z\n',
  ]);
  expect([odd.code, odd.stderr]).toEqual([
    2,
    'can-i: policies[0].kind: must be one of ChangeFreeze, MaintenanceWindow, FreezeException\n',
  ]);
});
