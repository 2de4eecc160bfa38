import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { configMaps, namespaces } from '../../lib/kube/model/resource.ts';
import { startSandbox, type Sandbox } from '../../lib/sandbox/sandbox.ts';
import { runHere, runNode, type Ended } from '../cli/command.ts';

let sandbox: Sandbox;
let directory: string;

beforeAll(async () => {
  sandbox = await startSandbox({ controllers: false });
  directory = await mkdtemp(join(tmpdir(), 'release-'));
  await writeFile(join(directory, 'kubeconfig'), JSON.stringify(sandbox.kubeconfig));
});

afterAll(async () => {
  await rm(directory, { recursive: true });
  await sandbox.close();
});

function command(...args: readonly string[]): Promise<Ended> {
  return runHere(args);
}

function release(...args: readonly string[]): Promise<Ended> {
  return command('release', '--kubeconfig', join(directory, 'kubeconfig'), ...args);
}

describe('kube-reflex release', () => {
  it('prints what it does, on which cluster, and leaves nothing for the next time', async () => {
    await sandbox.api.create(namespaces, { metadata: { name: 'elsewhere' } });
    const state = { metadata: { name: 'istio-rollout-state', namespace: 'elsewhere' } };
    await sandbox.api.create(configMaps, state);

    const rehearsed = await release('istio-rollout', '--namespace', 'elsewhere', '--dry-run');
    const first = await release('istio-rollout', '--namespace', 'elsewhere');
    const second = await release('istio-rollout', '--namespace', 'elsewhere');

    const step = 'delete ConfigMap elsewhere/istio-rollout-state\n';
    const cluster = `${sandbox.url}/ (context ${sandbox.kubeconfig['current-context']} of ${join(directory, 'kubeconfig')})`;
    expect(rehearsed).toEqual({ code: 0, output: `istio-rollout would leave ${cluster}\n  would ${step}` });
    expect(first).toEqual({ code: 0, output: `istio-rollout leaves ${cluster}\n  ${step}` });
    expect(second.output).toContain('there was nothing to take back');
  });

  it('leaves the cluster that kubectl would use with several files in KUBECONFIG', async () => {
    const KUBECONFIG = [join(directory, 'missing'), join(directory, 'kubeconfig')].join(delimiter);

    const { code, output } = await runHere(['release', 'istio-rollout', '--dry-run'], { ...process.env, KUBECONFIG });

    expect(code).toBe(0);
    expect(output).toContain(`istio-rollout would leave ${sandbox.url}/`);
  });

  it('knows its functions wherever it is called from', async () => {
    const { output } = await runNode([resolve('lib/cli/bin/kube-reflex.ts'), 'release', 'nothing'], directory);

    expect(output).toContain('there is no function "nothing"; there are coredns-sync, freeze-check, ');
  });

  it.each([
    [[], 'it needs FUNCTION'],
    [['no-such-function'], 'there is no function "no-such-function"; there are coredns-sync, freeze-check, '],
    [['freeze-check', 'coredns-sync'], 'it does not take "coredns-sync"'],
    [['freeze-check', '--set', 'lower=case'], '--set takes NAME=VALUE, not "lower=case"'],
    [['freeze-check', '--patience', 'long'], '--patience takes seconds, not "long"'],
  ])('refuses %j with 2 and says why', async (args, why) => {
    const { code, output } = await release(...args);

    expect(code).toBe(2);
    expect(output).toContain(why);
  });
});

describe('the README', () => {
  const deletions = readFileSync('README.md', 'utf8').match(/kubectl delete (.* )?-[kf] \S+.*/g) ?? [];

  it('says how to delete the rest on every platform', () => {
    expect(deletions).toHaveLength(3);
  });

  it.each(deletions)('has no failure where release was there before: %s', (deletion) => {
    expect(deletion).toContain(' --ignore-not-found ');
  });
});
