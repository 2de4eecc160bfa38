import { describe, expect, it } from '@jest/globals';
import { ESLint } from 'eslint';
import ts from 'typescript-eslint';

/** The project's own rules on a text that is not in the project, hence without those that need types. */
const eslint = new ESLint({ overrideConfig: [{ files: ['**/*.ts'], ...ts.configs.disableTypeChecked }] });

async function findings(file: string, text: string): Promise<string[]> {
  const [result] = await eslint.lintText(`${text}\n`, { filePath: file });
  return (result?.messages ?? []).map(({ message }) => message);
}

describe('layers', () => {
  it.each([
    [
      'lib/http/x.ts',
      "import definition from '../../functions/coredns-sync/index.ts';\nexport const x = definition;",
      'lib may not import a function',
    ],
    ['lib/x.ts', "export { plan } from '../functions/coredns-sync/plan.ts';", 'lib may not import a function'],
    [
      'lib/cli/x.ts',
      "import { plan } from '../../functions/coredns-sync/plan.ts';\nexport const x = plan;",
      'lib may not import a function',
    ],
    [
      'lib/sandbox/x.ts',
      "import { plan } from '../../functions/coredns-sync/plan.ts';\nexport const x = plan;",
      'lib may not import a function',
    ],
    ['lib/kube/x.ts', "import { send } from '../../test/http.ts';\nexport const x = send;", 'may not import tests'],
    [
      'lib/http/x.ts',
      "import { createKube } from '../kube/client.ts';\nexport const x = createKube;",
      'may not import its neighbours',
    ],
    ['lib/work/x.ts', "import { serve } from '../main.ts';\nexport const x = serve;", 'Only entry points'],
    [
      'lib/http/x.ts',
      "import { KubeConfig } from '@kubernetes/client-node';\nexport const x = KubeConfig;",
      'Only lib/kube loads the client',
    ],
    [
      'functions/a/x.ts',
      "import { plan } from '../b/plan.ts';\nexport const x = plan;",
      'may not import another function',
    ],
    [
      'functions/a/x.ts',
      "import { KubeConfig } from '@kubernetes/client-node';\nexport const x = KubeConfig;",
      'Only lib/kube loads the client',
    ],
    [
      'functions/a/plan.ts',
      "import { readFileSync } from 'node:fs';\nexport const x = readFileSync;",
      'Decisions are pure',
    ],
    [
      'functions/a/plan.ts',
      "import { serve } from '../../lib/main.ts';\nexport const x = serve;",
      'Decisions are pure',
    ],
    ['functions/a/decide.ts', 'export const x = Date.now();', "'Date.now' is restricted"],
    ['functions/a/schedule.ts', 'export const x = setTimeout;', "Unexpected use of 'setTimeout'"],
    ['lib/http/x.ts', "export const x = process.env['PATH'];", 'Read the environment once'],
    ['lib/function/x.ts', "import { z } from 'zod';\nexport const x = z;", 'not tree-shaken'],
  ])('%s may not say %j', async (file, text, message) => {
    expect((await findings(file, text)).join('\n')).toContain(message);
  });

  it.each([
    ['lib/http/x.ts', "import type { Kube } from '../kube/client.ts';\nexport type X = Kube;"],
    [
      'functions/a/plan.ts',
      "import type { V1Pod } from '@kubernetes/client-node';\nimport { pods } from '../../lib/kube/resource.ts';\nexport const x = pods;\nexport type X = V1Pod;",
    ],
  ])('%s may say %j', async (file, text) => {
    expect(await findings(file, text)).toEqual([]);
  });
});
