import { execFileSync, spawn, spawnSync, type ChildProcessByStdio } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';

/** Buildah with a store of its own, which goes with the directory. */
export interface Buildah {
  build(args: readonly string[]): void;
  /** What an image says of itself, by a Go template. */
  inspect(image: string, template: string): string;
  from(image: string): Container;
}

export interface Container {
  /** Starts a program as the image's user, in the image's environment and the network of this machine. */
  run(command: readonly string[], given?: Given): ChildProcessByStdio<null, Readable, Readable>;
}

/** What a program finds beside what the image has. */
export interface Given {
  readonly environment: Readonly<Record<string, string>>;
  /** Folders of this machine by where the program finds them, to read. */
  readonly mounts?: Readonly<Record<string, string>>;
}

export function isThere(): boolean {
  return spawnSync('buildah', ['--version']).status === 0;
}

/** Neither its storage driver nor its isolation asks for rights or for kernel modules. */
export function createBuildah(directory: string): Buildah & Disposable {
  const store = ['--root', join(directory, 'root'), '--runroot', join(directory, 'run'), '--storage-driver', 'vfs'];
  const isolation = ['--isolation', 'chroot', '--network', 'host'];

  function ask(...args: readonly string[]): string {
    const stdio = ['ignore', 'pipe', 'inherit'] as const;
    return execFileSync('buildah', [...store, ...args], { encoding: 'utf8', stdio: [...stdio] }).trim();
  }

  return {
    build: (args) => {
      execFileSync('buildah', [...store, 'build', ...isolation, ...args], { stdio: ['ignore', 'inherit', 'inherit'] });
    },
    inspect: (image, template) => ask('inspect', '--type', 'image', '--format', template, image),
    from: (image) => {
      const container = ask('from', '--pull-never', image);
      return {
        run: (command, { environment, mounts = {} } = { environment: {} }) => {
          const variables = Object.entries(environment).flatMap(([name, value]) => ['--env', `${name}=${value}`]);
          const volumes = Object.entries(mounts).flatMap(([to, from]) => ['--volume', `${from}:${to}:ro`]);
          const args = [...store, 'run', ...isolation, ...variables, ...volumes, container, '--', ...command];
          return spawn('buildah', args, { stdio: ['ignore', 'pipe', 'pipe'] });
        },
      };
    },
    [Symbol.dispose]: () => {
      try {
        ask('rm', '--all');
        ask('rmi', '--all', '--force');
      } finally {
        rmSync(directory, { recursive: true, force: true });
      }
    },
  };
}
