import { describe, expect, it } from '@jest/globals';
import { ESLint } from 'eslint';
import ts from 'typescript-eslint';

/** The project's own rules on a text that is not in the project, hence without those that need types. */
const eslint = new ESLint({ overrideConfig: [{ files: ['**/*.ts'], ...ts.configs.disableTypeChecked }] });

async function findings(file: string, text: string): Promise<string[]> {
  const [result] = await eslint.lintText(`${text}\n`, { filePath: file });
  return (result?.messages ?? []).map(({ message }) => message);
}

/** A file that imports a name from there and uses it. */
function importing(path: string): string {
  return `import { y } from '${path}';\nexport const x = y;`;
}

describe('lint', () => {
  it.each([
    ['lib/http/x.ts', importing('../../functions/coredns-sync/index.ts'), 'lib may not import a function'],
    ['lib/cli/x.ts', importing('../../functions/coredns-sync/plan.ts'), 'lib may not import a function'],
    ['lib/sandbox/x.ts', importing('../../functions/coredns-sync/plan.ts'), 'lib may not import a function'],
    ['lib/kube/x.ts', importing('../../test/support/http.ts'), 'may not import tests'],
    ['lib/http/x.ts', importing('../work/coalesce.ts'), 'lib/http may import only layers above it'],
    ['lib/kube/model/x.ts', importing('../../function/triggers.ts'), 'lib/kube may import only layers above it'],
    ['lib/work/x.ts', importing('../runtime/main.ts'), 'lib/work may import only layers above it'],
    [
      'lib/base/x.ts',
      "import type { Kube } from '../kube/client.ts';\nexport type X = Kube;",
      'lib/base may import only layers above it',
    ],
    ['lib/http/x.ts', importing('@kubernetes/client-node'), 'Only lib/kube loads the client'],
    ['functions/a/x.ts', importing('../b/plan.ts'), 'may not import another function'],
    ['functions/a/act/x.ts', importing('../../b/plan.ts'), 'may not import another function'],
    ['functions/a/x.ts', importing('@kubernetes/client-node'), 'Only lib/kube loads the client'],
    ['functions/a/policy/x.ts', 'export const x = Date.now();', "'Date.now' is restricted"],
    ['functions/a/policy/x.ts', 'export const x = setTimeout;', "Unexpected use of 'setTimeout'"],
    ['lib/http/x.ts', "export const x = process.env['PATH'];", 'Read the environment once'],
    ['lib/function/x.ts', "import { z } from 'zod';\nexport const x = z;", 'not tree-shaken'],
  ])('%s may not say %j', async (file, text, message) => {
    expect((await findings(file, text)).join('\n')).toContain(message);
  });

  it.each([
    ['lib/http/x.ts', importing('../kube/model/wire.ts')],
    ['functions/a/act/x.ts', 'export const x = Date.now();'],
    ['functions/a/policy/x.ts', importing('../../../lib/kube/model/resource.ts')],
    ['functions/a/act/x.ts', importing('../policy/x.ts')],
  ])('%s may say %j', async (file, text) => {
    expect(await findings(file, text)).toEqual([]);
  });
});
