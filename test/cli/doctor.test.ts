import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { tableOf, type Finding } from '../../lib/runtime/doctor/finding.ts';
import { deployments, namespaces, type Deployment } from '../../lib/kube/model/resource.ts';
import { kubeconfigFor } from '../../lib/sandbox/http/kubeconfig.ts';
import { startSandbox, type Sandbox } from '../../lib/sandbox/sandbox.ts';
import { kubeReflex, runHere, runNode, standardOutputOf } from './command.ts';

describe('npm run doctor', () => {
  let sandbox: Sandbox;
  let home: string;
  let file: string;

  beforeAll(async () => {
    sandbox = await startSandbox({ controllers: false });
    home = await mkdtemp(join(tmpdir(), 'doctor-'));
    file = join(home, '.kube', 'config');
    await mkdir(join(home, '.kube'));
    await writeFile(file, JSON.stringify(sandbox.kubeconfig));
  });

  afterAll(async () => {
    await rm(home, { recursive: true });
    await sandbox.close();
  });

  it('prints a table, says what to do and exits with 1', async () => {
    const { code, output } = await runHere(['doctor', '--kubeconfig', file]);

    expect(code).toBe(1);
    expect(output).toMatch(/^FUNCTION +CHECK +STATE +MESSAGE$/m);
    expect(output).toMatch(/ installation +error +there is no Knative Service and no Deployment /);
    expect(output).toContain('→ kubectl apply -k deploy/overlay');
  });

  it('prints nothing but JSON for a script', async () => {
    const text = await standardOutputOf([kubeReflex, 'doctor', 'freeze-check', '--kubeconfig', file, '-o', 'json']);

    expect(JSON.parse(text)).toEqual([
      expect.objectContaining({ function: 'freeze-check', check: 'installation', state: 'error' }),
    ]);
  });

  it('looks at the cluster that kubectl would use, and says which one that is', async () => {
    const { KUBECONFIG: _ignored, ...environment } = process.env;
    const { code, output } = await runNode([kubeReflex, 'doctor'], '.', { ...environment, HOME: home });

    const context = sandbox.kubeconfig['current-context'];
    expect(code).toBe(1);
    expect(output).toContain(`looking at ${sandbox.url}/ (context ${context} of ${file})\n`);
  });

  it('reports the wrong setting of one function, and checks the others', async () => {
    const namespace = 'elsewhere';
    await sandbox.api.create(namespaces, { metadata: { name: namespace } });
    await sandbox.api.create(deployments, deploymentWith({ namespace, variable: { name: 'TLS_MODE', value: 'slef' } }));

    const { code, output } = await runHere(['doctor', '--kubeconfig', file, '--namespace', namespace]);

    expect(code).toBe(1);
    expect(output).toMatch(/^freeze-check +settings +error +TLS_MODE must be one of .*, got "slef"/m);
    expect(output).toMatch(/^coredns-sync +installation +error /m);
    expect(output).toMatch(/^node-affinity-mutate +installation +error /m);
  });

  it('says with 1 that the cluster does not answer', async () => {
    const silent = join(home, 'silent');
    await writeFile(silent, JSON.stringify(kubeconfigFor({ server: 'https://127.0.0.1:1', ca: '', token: '' })));

    const { code, output } = await runNode([kubeReflex, 'doctor', '--kubeconfig', silent]);

    expect(code).toBe(1);
    expect(output).toMatch(
      /^doctor: could not reach https:\/\/127\.0\.0\.1:1\/ \(context \S+ of \S+\): connection refused; choose another with --kubeconfig$/m,
    );
  });

  it('says with 2 that it found no cluster', async () => {
    const { code, output } = await runHere(['doctor', '--kubeconfig', '/nowhere/kubeconfig']);

    expect(code).toBe(2);
    expect(output).toMatch(/^doctor: could not read \/nowhere\/kubeconfig: /);
  });
});

interface Wanted {
  readonly namespace: string;
  readonly variable: { readonly name: string; readonly value: string };
}

function deploymentWith({ namespace, variable }: Wanted): Deployment {
  const labels = { app: 'freeze-check' };
  const containers = [{ name: 'function', image: 'kube-reflex', env: [variable] }];
  return {
    metadata: { name: 'freeze-check', namespace },
    spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers } } },
  };
}

it('aligns its columns', () => {
  const findings: Finding[] = [
    { function: 'a', check: 'long check', state: 'ok', message: 'fine' },
    { function: 'longer', check: 'b', state: 'error', message: 'broken', fix: 'fix it' },
  ];

  expect(tableOf(findings)).toBe(
    [
      'FUNCTION  CHECK       STATE  MESSAGE',
      'a         long check  ok     fine',
      'longer    b           error  broken',
      `${' '.repeat(29)}→ fix it`,
    ].join('\n'),
  );
});
