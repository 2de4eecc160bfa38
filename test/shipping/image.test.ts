import { execFile, spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { validate, ValidationSeverity } from 'dockerfile-utils';
import { launch } from '../../deploy/launch.ts';
import { version } from '../../lib/base/version.ts';

const run = promisify(execFile);

/** The user of the image, where we may become it and it may read this checkout. */
const nobody = { uid: 65532, gid: 65532 };
const user = spawnSync(process.execPath, ['--version'], { ...nobody, cwd: 'deploy' }).status === 0 ? nobody : {};

let app: string;

beforeAll(async () => {
  app = await mkdtemp(join(tmpdir(), 'kube-reflex-image-'));
  await run(process.execPath, ['deploy/build.js', '--out', app, 'test/functions/host-census']);
  await chmod(app, 0o777);
  await run(process.execPath, ['deploy/warm.ts', app, 'test/functions'], user);
  await chmod(app, 0o755);
});

afterAll(() => rm(app, { recursive: true }));

/** Starts what the image starts, ends it once it listens, and resolves with its exit code and all that it said. */
async function startImage(args: readonly string[], environment: Readonly<Record<string, string>>) {
  const { flags, environment: base } = launch({ compileCache: join(app, 'cache') });
  const child = spawn(process.execPath, [...flags, join(app, 'kube-reflex.cjs'), ...args], {
    ...user,
    env: { ...base, PORT: '0', TLS_PORT: '0', DRAIN_SECONDS: '0', LOG_LEVEL: 'info', ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  child.stdout.on('data', (chunk: Buffer) => void endOnceReady(child, chunk));
  const exited = once(child, 'exit') as Promise<[number | null]>;
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), exited]);
  return { code, stdout, stderr };
}

/** A program that answers can also be stopped. */
async function endOnceReady(child: ChildProcess, said: Buffer): Promise<void> {
  const url = /"urls":\["([^"]+)"/.exec(said.toString())?.[1];
  if (url !== undefined) {
    await fetch(new URL('/health/readiness', url));
    child.kill('SIGTERM');
  }
}

describe('the program of the image', () => {
  it.each([
    { by: 'its argument', args: ['host-census'], environment: { FUNCTION: 'another' } },
    { by: 'FUNCTION', args: [], environment: { FUNCTION: 'host-census' } },
  ])('starts the function named by $by', async ({ args, environment }) => {
    const { code, stdout } = await startImage(args, environment);

    expect(code).toBe(0);
    expect(stdout).toContain('"functions":["host-census"]');
  });

  it.each([
    { given: 'none', name: '', problem: 'no function is named' },
    { given: 'an unknown one', name: 'hots-census', problem: 'there is no function "hots-census"' },
    { given: 'a path', name: '../app/host-census', problem: 'there is no function "../app/host-census"' },
  ])('names the functions there are when it is given $given', async ({ name, problem }) => {
    const { code, stderr } = await startImage([], { FUNCTION: name });

    expect(code).toBe(1);
    expect(stderr).toMatch(new RegExp(`^kube-reflex: ${problem}; set FUNCTION to one of .*host-census`));
  });

  it('finds its code compiled by the build, and needs to write nothing', async () => {
    const cached = await readdir(join(app, 'cache'), { recursive: true });

    const { code, stdout, stderr } = await startImage(['host-census'], { NODE_DEBUG_NATIVE: 'COMPILE_CACHE' });

    expect(code).toBe(0);
    for (const file of ['kube-reflex.cjs', 'host-census.cjs']) {
      expect(stdout + stderr).toMatch(new RegExp(`code cache for CommonJS \\S+/${file} was accepted`));
    }
    expect(await readdir(join(app, 'cache'), { recursive: true })).toEqual(cached);
  });
});

describe('the Dockerfile', () => {
  let dockerfile: string;
  let instructions: readonly string[];

  beforeAll(async () => {
    dockerfile = await readFile('deploy/Dockerfile', 'utf8');
    instructions = dockerfile
      .replaceAll(/^#.*\n/gm, '')
      .replaceAll(/\\\n\s*/g, '')
      .split('\n');
  });

  it('starts the program with the flags and environment that were measured', () => {
    const { flags, environment } = launch({ compileCache: '/app/cache' });
    const command = ['/nodejs/bin/node', ...flags, '/app/kube-reflex.cjs'];
    const variables = Object.entries(environment).map(([name, value]) => `${name}=${value}`);

    expect(instructions).toContain(`ENTRYPOINT ${JSON.stringify(command).replaceAll('","', '", "')}`);
    expect(instructions).toContain(`ENV ${variables.join(' ')}`);
  });

  it('runs as a user without rights, by number so that Kubernetes can verify it', () => {
    const last = instructions.findLast((instruction) => instruction.startsWith('USER '));

    expect(last).toBe('USER 65532:65532');
  });

  it('is as builders want it: the linter finds nothing, not even of taste', () => {
    const strict = ValidationSeverity.ERROR;

    const found = validate(dockerfile, {
      ...{ deprecatedMaintainer: strict, directiveCasing: strict, emptyContinuationLine: strict },
      ...{ instructionCasing: strict, instructionCmdMultiple: strict, instructionEntrypointMultiple: strict },
      ...{ instructionJSONInSingleQuotes: strict, instructionWorkdirRelative: strict },
    });

    expect(found).toEqual([]);
  });

  it('is made from images with a tag and stages that exist', () => {
    const args = new Map(argumentsOf(instructions));
    const stages: string[] = [];

    for (const [, image = '', stage = ''] of matches(/^FROM (\S+)(?: AS (\S+))?$/)) {
      const resolved = image.replace(/^\$\{(\w+)\}$/, (_, name: string) => args.get(name) ?? '');
      expect(stages.includes(image) || /^[\w./-]+:(?!latest$)[\w.-]+$/.test(resolved)).toBe(true);
      stages.push(stage);
    }
    for (const [, from = ''] of matches(/^COPY --from=(\S+)/)) {
      expect(stages).toContain(from);
    }
  });

  it('leaves nothing to chance: locked packages, no install scripts, no shell at run time, files of root', () => {
    const last = instructions.findLastIndex((instruction) => instruction.startsWith('FROM '));
    const shipped = instructions.slice(last);

    expect(instructions.filter((instruction) => /npm (i|install)\b|curl|wget|apt|sudo/.test(instruction))).toEqual([]);
    expect(instructions.join('\n')).toMatch(/"npm", "ci", "--ignore-scripts"/);
    expect(shipped.filter((instruction) => instruction.startsWith('RUN '))).toEqual([]);
    expect(shipped.filter((instruction) => /^COPY (?!--from=\S+ --chown=0:0 )/.test(instruction))).toEqual([]);
    expect(shipped.filter((instruction) => /^(ENTRYPOINT|CMD) (?!\[)/.test(instruction))).toEqual([]);
  });

  function matches(pattern: RegExp): RegExpExecArray[] {
    return instructions.map((instruction) => pattern.exec(instruction)).filter((match) => match !== null);
  }

  it('is labelled with the version of the package', () => {
    expect(instructions).toContain(`ARG VERSION=${version}`);
    expect(instructions.join('\n')).toContain('org.opencontainers.image.version="${VERSION}"');
  });
});

function argumentsOf(instructions: readonly string[]): [string, string][] {
  return instructions.flatMap((instruction) => {
    const [, name, value] = /^ARG (\w+)=(\S+)$/.exec(instruction) ?? [];
    return name === undefined || value === undefined ? [] : [[name, value]];
  });
}
