import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { cachedPath, findBinary, moduleDirectory, placesOf } from './binaries.ts';
import { isAtLeast } from './go.ts';
import { withLock } from './lock.ts';
import { partNames, parts, productOf, products } from './parts.ts';
import { reservePorts } from './ports.ts';
import { suites } from '../suites.ts';

let directory = '';
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'kube-reflex-parts-'));
});
afterEach(() => rmSync(directory, { recursive: true }));

describe('pinned versions', () => {
  it.each(partNames)('of %s are those that its module file names', (name) => {
    const goMod = readFileSync(join(moduleDirectory(name), 'go.mod'), 'utf8');

    expect(goMod).toContain(`${productOf(name).module} ${productOf(name).version}`);
  });

  it('cover every suite', () => {
    expect(partNames).toEqual(expect.arrayContaining(Object.values(suites).flat()));
  });

  it('build every program of ours, and no other', () => {
    const files = new Set(partNames.map((name) => parts[name].package).filter((main) => main.endsWith('.go')));

    expect([...files].sort()).toEqual(readdirSync(join(import.meta.dirname, 'programs')));
  });

  it('carry the staging modules of Kubernetes along', () => {
    const goMod = readFileSync(join(moduleDirectory('kube-apiserver'), 'go.mod'), 'utf8');

    expect(goMod).toContain(`replace k8s.io/api => k8s.io/api ${products.kube.staging}`);
  });
});

describe('binaries', () => {
  it('are looked for in KUBEBUILDER_ASSETS before the cache', () => {
    const provided = join(directory, 'etcd');
    writeFileSync(provided, '');

    expect(findBinary('etcd', placesOf({ KUBEBUILDER_ASSETS: directory, XDG_CACHE_HOME: directory }))).toBe(provided);
    expect(findBinary('etcd', placesOf({ XDG_CACHE_HOME: directory }))).toBeUndefined();
  });

  it('are looked for on PATH where any release serves', () => {
    for (const name of ['etcd', 'kubectl']) {
      writeFileSync(join(directory, name), '');
    }
    const places = placesOf({ PATH: `/nowhere:${directory}`, XDG_CACHE_HOME: directory });

    expect(findBinary('kubectl', places)).toBe(join(directory, 'kubectl'));
    expect(findBinary('etcd', places)).toBeUndefined();
  });

  it('are cached by part and version, outside the checkout', () => {
    const places = placesOf({ XDG_CACHE_HOME: directory });

    expect(dirname(dirname(cachedPath('etcd', places)))).toBe(join(directory, 'kube-reflex', 'real-parts'));
    expect(cachedPath('etcd', places)).toContain(`etcd-${products.etcd.version}-`);
  });

  it('that cannot be built are an error that says what to install', async () => {
    const child = spawn(process.execPath, [join(import.meta.dirname, '../cli.ts'), 'build', 'etcd'], {
      env: { PATH: dirname(process.execPath), XDG_CACHE_HOME: directory },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const [ended, text] = await Promise.all([once(child, 'exit'), child.stderr.setEncoding('utf8').toArray()]);

    expect(ended).toEqual([1, null]);
    expect(text.join('')).toMatch(
      /^etcd not found in .*: there is no go on PATH: install Go 1\.\d+\.\d+ or newer from /,
    );
  });
});

describe('Go releases', () => {
  it.each([
    ['1.26.0', '1.26.0', true],
    ['1.26.8', '1.26.0', true],
    ['1.26', '1.26.0', true],
    ['1.25.9', '1.26.0', false],
    ['1.9', '1.21.0', false],
    ['2.0', '1.26.3', true],
    ['1.27rc1', '1.26.0', true],
  ])('%s for %s: %p', (version, needed, enough) => {
    expect(isAtLeast(version, needed)).toBe(enough);
  });
});

describe('runs side by side', () => {
  it('get ports of their own, below those of outgoing connections', async () => {
    const [first, second] = await Promise.all([reservePorts(), reservePorts()]);

    expect(first.base).not.toBe(second.base);
    expect(Math.max(first.base, second.base)).toBeLessThan(32_768 - 100);
    await Promise.all([first.release(), second.release()]);
  });

  it('do not build the same part at once', async () => {
    const steps: string[] = [];
    async function work(name: string): Promise<void> {
      steps.push(`${name} starts`);
      await new Promise(setImmediate);
      steps.push(`${name} ends`);
    }
    const path = join(directory, 'part.lock');

    await Promise.all(
      ['a', 'b'].map((name) =>
        withLock(
          path,
          () => steps.push(`${name} waits`),
          () => work(name),
        ),
      ),
    );

    expect(steps).toEqual(['a starts', 'b waits', 'a ends', 'b starts', 'b ends']);
  });

  it('take over the lock of a dead process', async () => {
    const path = join(directory, 'part.lock');
    const child = spawn(process.execPath, ['--version'], { stdio: 'ignore' });
    await once(child, 'exit');
    writeFileSync(path, String(child.pid));

    await expect(
      withLock(
        path,
        () => undefined,
        () => Promise.resolve('done'),
      ),
    ).resolves.toBe('done');
  });
});
