import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { kubeconfigFiles } from './cluster.ts';

const directory = mkdtempSync(join(tmpdir(), 'kubeconfig-'));
const [home, homeless] = [join(directory, 'home'), join(directory, 'homeless')];
const [own, first, second, missing] = [
  join(home, '.kube', 'config'),
  join(directory, 'first'),
  join(directory, 'second'),
  join(directory, 'missing'),
];

beforeAll(() => {
  mkdirSync(join(home, '.kube'), { recursive: true });
  for (const file of [own, first, second]) {
    writeFileSync(file, '');
  }
});

afterAll(() => rmSync(directory, { recursive: true }));

function listed(...files: readonly string[]): { readonly KUBECONFIG: string } {
  return { KUBECONFIG: files.join(delimiter) };
}

describe('the kubeconfig of a command', () => {
  it.each([
    ['is the one of the flag, whatever the environment says', first, listed(second), home, [first]],
    ['is the one of the flag even if it is not there', missing, listed(second), home, [missing]],
    ['is KUBECONFIG rather than the one at home', undefined, listed(first), home, [first]],
    ['is every file that KUBECONFIG lists, in its order', undefined, listed(second, first), home, [second, first]],
    ['is what is there of the files in KUBECONFIG', undefined, listed(missing, '', second), home, [second]],
    ['is the one at home without KUBECONFIG', undefined, {}, home, [own]],
    ['is the one at home where KUBECONFIG is empty', undefined, listed(''), home, [own]],
    ['is that of the pod where there is no other', undefined, {}, homeless, []],
  ] as const)('%s', (_what, flag, environment, place, files) => {
    expect(kubeconfigFiles(flag, { environment, home: place })).toEqual(files);
  });

  it('is never another one than KUBECONFIG names, although none of its files is there', () => {
    expect(() => kubeconfigFiles(undefined, { environment: listed(missing), home })).toThrow(
      `read KUBECONFIG: none of its files is there: ${missing}`,
    );
  });
});
