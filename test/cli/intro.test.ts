import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { findFunctions, type Found } from '../../lib/cli/functions.ts';
import { intro, type Scene } from '../../lib/cli/start/intro.ts';
import { trialsOf } from '../../lib/cli/start/samples.ts';
import type { Running } from '../../lib/runtime/main.ts';
import { startSandbox, type Sandbox } from '../../lib/sandbox/sandbox.ts';

let sandbox: Sandbox;
let found: readonly Found[];

beforeAll(async () => {
  sandbox = await startSandbox({ controllers: false });
  found = await findFunctions('functions');
});
afterAll(() => sandbox.close());

function introOf(names: readonly string[], changes: Partial<Scene> = {}, columns?: number): string {
  return intro(
    {
      options: { functions: [], port: 8080, tlsPort: 9443, apiPort: 8001, dryRun: false },
      found: found.filter(({ definition }) => names.includes(definition.name)),
      running: { url: new URL('http://127.0.0.1:8080/') } as Running,
      sandbox,
      kubeconfigFile: '.sandbox/kubeconfig',
      server: new URL(sandbox.url),
      ...changes,
    },
    { columns, colour: false, functions: names },
  );
}

describe('the introduction of npm start', () => {
  it('suggests what fits the functions that run, ready to be pasted', () => {
    const text = introOf(['node-affinity-mutate']);

    expect(text).toContain('  export KUBECONFIG=.sandbox/kubeconfig\n');
    expect(text).toContain('  kubectl -n pool-demo run hello --image=example.com/hello\n');
    expect(text).toContain('curl -s http://127.0.0.1:8080/node-affinity-mutate/doctor');
    expect(text).not.toContain('ingress');
  });

  it('has a suggestion for every function, about a namespace of its samples', () => {
    for (const { folder } of found) {
      const samples = readFileSync(`${folder}/samples.yaml`, 'utf8');
      const namespaces = trialsOf(folder).flatMap((trial) => / -n (\S+)/.exec(trial)?.[1] ?? []);

      expect(trialsOf(folder)).not.toEqual([]);
      expect(namespaces.filter((name) => !new RegExp(`name(space)?: ${name}\n`).test(samples))).toEqual([]);
    }
  });

  it('fits a terminal of 80 columns: text is broken between words, commands so that a shell takes them', () => {
    const text = introOf(['coredns-sync', 'freeze-check', 'istio-rollout', 'node-affinity-mutate'], {}, 80);

    expect(text.split('\n').filter((line) => line.length > 80)).toEqual([]);
    expect(text.replaceAll(/ \\\n +/g, ' ')).toContain(
      "kubectl -n shop create ingress hello --class=nginx --rule='hello.example.com/*=hello:80'\n",
    );
  });

  it('suggests no change in a cluster that is not the sandbox', () => {
    const text = introOf(['coredns-sync'], { sandbox: undefined });

    expect(text).toContain('WRITES TO THE CLUSTER');
    expect(text).not.toContain('create ingress');
  });
});
