import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { findFunctions } from '../../lib/cli/functions.ts';
import { exampleEnvironment } from '../../lib/function/config.ts';
import type { Definition } from '../../lib/function/definition.ts';
import { standardInstallation } from '../../lib/install/manifests/installation.ts';
import { plainSubscription, subscriptions } from '../../lib/install/manifests/plain.ts';
import { startSandbox } from '../../lib/sandbox/sandbox.ts';
import { version } from '../../lib/base/version.ts';
import { makeRoot } from './base.ts';
import { createBuildah, isThere, type Buildah, type Container, type Given } from './buildah.ts';

const root = resolve(import.meta.dirname, '../..');
const image = 'localhost/kube-reflex';
/** Whom this machine trusts, where Debian keeps it. */
const certificates = '/etc/ssl/certs/ca-certificates.crt';
const startLimitMs = 60_000;

/**
 * `npm run image`: builds the Dockerfile by buildah, without a daemon, from bases made of this machine's own files, and
 * starts every function, the event source and the sink for dead letters in what comes out. Takes a few minutes and the package registry,
 * hence no part of the tests.
 */
async function main(): Promise<void> {
  if (!isThere()) {
    throw new Error('there is no buildah on PATH; distributions have it as a package: apt-get install buildah');
  }
  const directory = mkdtempSync(join(tmpdir(), 'kube-reflex-try-'));
  using buildah = createBuildah(directory);
  const [builder, runtime] = buildBases(buildah, directory);
  buildImage(buildah, builder, runtime);
  expectEqual(
    'its label',
    buildah.inspect(image, '{{index .OCIv1.Config.Labels "org.opencontainers.image.version"}}'),
    version,
  );
  const container = buildah.from(image);
  await checkUser(container);
  const entry = buildah.inspect(image, '{{range .OCIv1.Config.Entrypoint}}{{println .}}{{end}}').split('\n');
  const definitions = (await findFunctions(join(root, 'functions'))).map(({ definition }) => definition);
  for (const definition of definitions) {
    await checkFunction(container, entry, definition);
  }
  await checkSource(container, entry, definitions, join(directory, 'source'));
  const { metrics } = await start(container, entry, { environment: { FUNCTION: 'dead-letters' } });
  expectVersion('dead-letters', metrics);
}

/** The builder has what the Dockerfile's commands call; the runtime, like a distroless one, has Node and nothing else. */
function buildBases(buildah: Buildah, directory: string): [string, string] {
  const { npm_execpath: program } = process.env;
  if (program === undefined) {
    throw new Error('npm says where it is to what it starts: use npm run image');
  }
  const npm = dirname(dirname(program));
  const builder = join(directory, 'builder');
  const tools = ['/bin/sh', '/usr/bin/env', '/usr/bin/install'].map((path) => [path, path] as const);
  makeRoot(builder, { '/usr/local/bin/node': process.execPath, ...Object.fromEntries<string>(tools) });
  cpSync(npm, join(builder, 'usr/local/lib/npm'), { recursive: true });
  symlinkSync('../lib/npm/bin/npm-cli.js', join(builder, 'usr/local/bin/npm'));
  const runtime = join(directory, 'runtime');
  makeRoot(runtime, { '/nodejs/bin/node': process.execPath });
  const trust = `ENV NODE_EXTRA_CA_CERTS=${certificates}\n`;
  return [buildBase(buildah, builder, trust), buildBase(buildah, runtime)];
}

function buildBase(buildah: Buildah, folder: string, more = ''): string {
  const name = `localhost${folder.slice(folder.lastIndexOf('/'))}`;
  writeFileSync(`${folder}.Dockerfile`, `FROM scratch\nCOPY . /\n${more}`);
  buildah.build(['--quiet', '--file', `${folder}.Dockerfile`, '--tag', name, folder]);
  return name;
}

/** The machine's own way to the registry is lent to the build and stays out of the image. */
function buildImage(buildah: Buildah, builder: string, runtime: string): void {
  const lent = { [join(homedir(), '.npmrc')]: '/root/.npmrc', [certificates]: certificates };
  const volumes = Object.entries(lent).flatMap(([from, to]) =>
    existsSync(from) ? ['--volume', `${from}:${to}:ro`] : [],
  );
  const args = { BUILDER: builder, RUNTIME: runtime };
  const told = Object.entries(args).flatMap(([name, value]) => ['--build-arg', `${name}=${value}`]);
  buildah.build([...volumes, ...told, '--file', join(root, 'deploy/Dockerfile'), '--tag', image, root]);
}

/** It is nobody, and may not write into /app. */
async function checkUser(container: Container): Promise<void> {
  const probe = `try { fs.writeFileSync('/app/mine', '') } catch (error) { console.log(process.getuid(), error.code) }`;
  const child = container.run(['/nodejs/bin/node', '-e', probe]);
  expectEqual('its user, and how writing into /app ends', (await text(child.stdout)).trim(), '65532 EACCES');
}

/** The function answers as this version, from code that the build had compiled. */
async function checkFunction(container: Container, entry: readonly string[], definition: Definition): Promise<void> {
  const { name, config } = definition;
  const settings = { TLS_PORT: '0', NODE_DEBUG_NATIVE: 'COMPILE_CACHE', FUNCTION: name };
  const { metrics, told } = await start(container, entry, {
    environment: { ...exampleEnvironment(config), ...settings },
  });
  const compiled = `code cache for CommonJS /app/${name}.cjs was accepted`;
  expectEqual(`${name} is compiled`, told.includes(compiled), true);
  expectVersion(name, metrics);
}

/** The event source finds what the functions subscribe to where the manifests mount it, and a cluster to watch. */
async function checkSource(
  container: Container,
  entry: readonly string[],
  definitions: readonly Definition[],
  folder: string,
): Promise<void> {
  const wanted = definitions.map((definition) => plainSubscription(definition, standardInstallation));
  const sandbox = await startSandbox({ controllers: false });
  try {
    mkdirSync(folder);
    writeFileSync(join(folder, 'kubeconfig'), JSON.stringify(sandbox.kubeconfig));
    writeFileSync(join(folder, subscriptions.key), JSON.stringify(wanted));
    const { directory, key } = subscriptions;
    const settings = { SUBSCRIPTIONS: `${directory}/${key}`, KUBECONFIG: `${directory}/kubeconfig` };
    const { metrics } = await start(container, entry, {
      environment: { ...settings, FUNCTION: 'source' },
      mounts: { [directory]: folder },
    });
    expectVersion('source', metrics);
  } finally {
    await sandbox.close();
  }
}

/** From start to end: what a program tells of itself on the way. How it ends is up to buildah, which kills it. */
async function start(
  container: Container,
  entry: readonly string[],
  { environment, mounts = {} }: Given,
): Promise<{ readonly metrics: string; readonly told: string }> {
  const child = container.run(entry, { environment: { ...environment, PORT: '0', LOG_LEVEL: 'info' }, mounts });
  const exited = once(child, 'exit') as Promise<[number | null]>;
  const told = text(child.stderr);
  const late = AbortSignal.timeout(startLimitMs);
  let metrics: string | undefined;
  for await (const line of createInterface({ input: child.stdout, signal: late })) {
    const url = /"urls":\["([^"]+)"/.exec(line)?.[1];
    if (url !== undefined) {
      metrics = await (await fetch(new URL('/metrics', url), { signal: late })).text();
      child.kill();
    }
  }
  if (late.aborted) {
    child.kill();
    throw new Error(`${environment['FUNCTION']} was not up and gone again within ${startLimitMs / 1000} s`);
  }
  if (metrics === undefined) {
    const [code] = await exited;
    throw new Error(`${environment['FUNCTION']} ended with ${code} before it listened:\n${await told}`);
  }
  return { metrics, told: await told };
}

function expectVersion(name: string, metrics: string): void {
  expectEqual(`${name} tells its version`, metrics.includes(`version="${version}"`), true);
}

function expectEqual(what: string, found: unknown, expected: unknown): void {
  if (found !== expected) {
    throw new Error(`${what}: found ${String(found)}, expected ${String(expected)}`);
  }
  process.stdout.write(`${what}: ${String(found)}\n`);
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1); // what hangs in a container must not keep this waiting
});
