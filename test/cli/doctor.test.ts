import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { tableOf, type Finding } from '../../lib/doctor/finding.ts';
import { startSandbox } from '../../lib/sandbox/sandbox.ts';
import { runNode } from './command.ts';

describe('npm run doctor', () => {
  it('prints a table, says what to do and exits with 1', async () => {
    const sandbox = await startSandbox({ controllers: false });
    const directory = await mkdtemp(join(tmpdir(), 'doctor-'));
    const file = join(directory, 'kubeconfig');
    await writeFile(file, JSON.stringify(sandbox.kubeconfig));

    const { code, output } = await runNode(['lib/cli/doctor.ts', '--kubeconfig', file]);
    await rm(directory, { recursive: true });
    await sandbox.close();

    expect(code).toBe(1);
    expect(output).toMatch(/^FUNCTION +CHECK +STATE +MESSAGE$/m);
    expect(output).toMatch(/ installation +error +there is no Knative Service and no Deployment /);
    expect(output).toContain('→ kubectl apply -k knative');
  });

  it('looks at the cluster that kubectl would use, and says which one that is', async () => {
    const sandbox = await startSandbox({ controllers: false });
    const home = await mkdtemp(join(tmpdir(), 'doctor-'));
    const file = join(home, '.kube', 'config');
    await mkdir(join(home, '.kube'));
    await writeFile(file, JSON.stringify(sandbox.kubeconfig));

    const { KUBECONFIG: _ignored, ...environment } = process.env;
    const { code, output } = await runNode(['lib/cli/doctor.ts'], '.', { ...environment, HOME: home });
    await rm(home, { recursive: true });
    await sandbox.close();

    const context = sandbox.kubeconfig['current-context'];
    expect(code).toBe(1);
    expect(output).toContain(`looking at ${sandbox.url}/ (context ${context} of ${file})\n`);
  });

  it('says with 2 that it found no cluster', async () => {
    const { code, output } = await runNode(['lib/cli/doctor.ts', '--kubeconfig', '/nowhere/kubeconfig']);

    expect(code).toBe(2);
    expect(output).toContain('doctor: ');
  });
});

it('aligns its columns', () => {
  const findings: Finding[] = [
    { function: 'a', check: 'long check', state: 'ok', message: 'fine' },
    { function: 'longer', check: 'b', state: 'error', message: 'broken', fix: 'mend it' },
  ];

  expect(tableOf(findings)).toBe(
    [
      'FUNCTION  CHECK       STATE  MESSAGE',
      'a         long check  ok     fine',
      'longer    b           error  broken',
      `${' '.repeat(29)}→ mend it`,
    ].join('\n'),
  );
});
