import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { stringify } from 'yaml';
import { bundle, type Bundle } from '../../deploy/bundle.ts';
import { launch } from '../../deploy/launch.ts';
import { startSandbox, type Sandbox } from '../../lib/sandbox/sandbox.ts';
import { median } from '../bench/measure/figure.ts';
import { expectStatus, ingressEvent } from '../bench/measure/load.ts';
import { benchProgram, start, type Program, type Started } from '../bench/measure/program.ts';
import { binaryEvent, send } from '../support/http.ts';

const run = promisify(execFile);
const folder = 'test/functions/host-census';

let directory: string;
let built: Bundle;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'kube-reflex-build-'));
  built = await bundle(folder, directory);
});

afterAll(() => rm(directory, { recursive: true }));

describe('what a bundle holds', () => {
  it('is one small file', () => {
    expect(built.bytes).toBeLessThan(500_000);
  });

  it('has the packages that run in a cluster and no others', async () => {
    const ofExpress = await withDependencies('express');

    expect(built.packages.filter((name) => !ofExpress.has(name))).toEqual([
      '@kubernetes/client-node',
      '@pinojs/redact',
      'cloudevents',
      'js-yaml',
      'pino',
      'pino-std-serializers',
      'prom-client',
      'quick-format-unescaped',
      'rfc4648',
      'safe-stable-stringify',
      'zod',
    ]);
    for (const left of ['body-parser', 'iconv-lite', 'qs', 'send']) {
      expect(built.packages).not.toContain(left);
    }
  });

  it('carries the version of the package and nothing else of its manifest', async () => {
    const text = await readFile(built.file, 'utf8');

    expect(text).not.toContain('fast-check');
    expect(text).not.toContain(process.cwd());
  });
});

/** A package with everything that it may load, by the lockfile. */
async function withDependencies(name: string): Promise<ReadonlySet<string>> {
  const { packages } = JSON.parse(await readFile('package-lock.json', 'utf8')) as {
    readonly packages: Readonly<Record<string, { readonly dependencies?: Readonly<Record<string, string>> }>>;
  };
  const found = new Set([name]);
  for (const each of found) {
    for (const dependency of Object.keys(packages[`node_modules/${each}`]?.dependencies ?? {})) {
      found.add(dependency);
    }
  }
  return found;
}

describe('npm run build', () => {
  it('empties its folder, builds each function given and prints the sizes', async () => {
    const out = await mkdtemp(join(directory, 'out-'));
    await writeFile(join(out, 'stale.cjs'), '');

    const { stdout } = await run(process.execPath, ['deploy/build.js', '--out', out, folder]);

    expect(stdout).toMatch(/'host-census'\W+\d+\W+\d+/);
    const files = await readdir(out);
    expect(files).not.toContain('stale.cjs');
    expect(files).toEqual(expect.arrayContaining(['host-census.cjs', 'host-census.cjs.map']));
  });
});

describe.each(['JSON', 'YAML'])('a bundle with a kubeconfig in %s', (format) => {
  let sandbox: Sandbox;
  let started: Started;
  let url: URL;

  beforeAll(async () => {
    sandbox = await startSandbox();
    const kubeconfig = join(directory, `kubeconfig.${format}`);
    await writeFile(kubeconfig, format === 'JSON' ? JSON.stringify(sandbox.kubeconfig) : stringify(sandbox.kubeconfig));
    const { flags, environment } = launch({ compileCache: join(directory, 'cache') });
    const settings = { KUBECONFIG: kubeconfig, PORT: '0', TLS_PORT: '0', DRAIN_SECONDS: '0', LOG_LEVEL: 'info' };
    started = await start({ file: built.file, flags, environment: { ...environment, ...settings } });
    [url = new URL('http://127.0.0.1:1')] = started.urls;
  });

  afterAll(async () => {
    await sandbox.close();
  });

  it('answers an event after it wrote to the cluster', async () => {
    const place = { kind: 'Ingress', apiVersion: 'networking.k8s.io/v1', namespace: 'default', name: 'shop' };

    const { status } = await send(url, binaryEvent({ type: 'dev.knative.apiserver.ref.add', ...place }));

    expect(status).toBe(204);
    const written = await fetch(new URL('/api/v1/namespaces/default/configmaps/host-census', sandbox.httpUrl));
    expect(written.status).toBe(200);
  });

  it('refuses what is no event, serves its routes and counts what it did', async () => {
    const malformed = await send(url, { body: '{' });
    const route = await send(url, { method: 'GET', path: '/status' });
    const doctor = await send(url, { method: 'GET', path: '/doctor' });
    const metrics = await send(url, { method: 'GET', path: '/metrics' });

    expect(doctor.body).toMatch(/ rights of this account +ok +all \d+ that it asks for are granted$/m);
    expect(malformed.status).toBe(400);
    expect(route).toMatchObject({ status: 200, body: '{"hosts":[],"conditions":[]}\n' });
    expect(metrics.body).toMatch(/^kube_reflex_requests_total\{.*result="ok"\} 1$/m);
    expect(metrics.body).toMatch(/^kube_reflex_build_info\{version="\d+\.\d+\.\d+",node=".*"\} 1$/m);
  });

  it('drains and exits with 0 when asked to', async () => {
    expect(await started.stop()).toBe(0);
  });
});

it('PF-17 cold start: a new process for each event answers the first for at most three times what Node alone costs', async () => {
  const sandbox = await startSandbox();
  const kubeconfig = join(directory, 'kubeconfig.cold');
  await writeFile(kubeconfig, JSON.stringify(sandbox.kubeconfig));
  const { flags, environment } = launch({ compileCache: join(directory, 'cold-cache') });
  const settings = { KUBECONFIG: kubeconfig, PORT: '0', TLS_PORT: '0', DRAIN_SECONDS: '0', LOG_LEVEL: 'info' };
  const bundled = { file: built.file, flags, environment: { ...environment, ...settings } };
  await costOfFirstAnswer(bundled); // fills the compile cache, as the image's build does

  const ratios: number[] = [];
  for (let event = 0; event < 5; event += 1) {
    ratios.push((await costOfFirstAnswer(bundled)) / (await costOfFirstAnswer(benchProgram('bare.cjs'))));
  }
  await sandbox.close();

  expect(median(ratios)).toBeLessThan(3);
});

/** Processor time from the start of a process to its answer: others on this machine don't count. */
async function costOfFirstAnswer(program: Program): Promise<number> {
  const process = await start(program);
  const [url = new URL('http://127.0.0.1:1')] = process.urls;
  await expectStatus(url, ingressEvent, 204);
  const { cpuMs } = await process.usage();
  await process.stop();
  return cpuMs;
}

describe('a bundle with wrong settings', () => {
  it('names all of them in one message and exits with 1 before it listens', async () => {
    const env = { PORT: '99999', ROLE: 'nobody', CONFIG_MAP: 'Not A Name' };

    const ended = run(process.execPath, [built.file], { env });

    await expect(ended).rejects.toMatchObject({ code: 1, stdout: '' });
    await expect(ended).rejects.toHaveProperty('stderr', expect.stringMatching(/^host-census: wrong settings\n/));
    for (const name of Object.keys(env)) {
      await expect(ended).rejects.toHaveProperty('stderr', expect.stringContaining(`\n  ${name} must `));
    }
  });
});
