import { once } from 'node:events';
import { findBinary, placesOf } from './parts/binaries.ts';
import { ensureParts } from './parts/build.ts';
import { startCluster } from './parts/cluster.ts';
import { controlPlane, type ControlPlanePart } from './parts/control-plane.ts';
import { isPart, partNames, type PartName } from './parts/parts.ts';
import { currentRuns, isAlive, residentMegabytes } from './parts/runs.ts';

const usage = `usage: npm run real -- <command>
  build [part…]   build the named parts, or all: ${partNames.join(' ')}
  where [part…]   build the named parts and print the path of each
  up [part…]      start a control plane, or etcd, kube-apiserver and the named parts of it; runs until Ctrl-C
  down            end what \`up\` started
  status          list what runs`;

const controlPlaneParts = Object.keys(controlPlane) as ControlPlanePart[];

const commands: Readonly<Record<string, (names: readonly string[]) => Promise<void> | void>> = {
  build: (names) => build(named(names, partNames, isPart)),
  where: (names) => where(named(names, partNames, isPart)),
  up: (names) => up(named(names, controlPlaneParts, isControlPlanePart)),
  down,
  status,
};

async function main([name = '', ...names]: readonly string[]): Promise<void> {
  const command = commands[name];
  if (command === undefined) {
    throw new Error(usage);
  }
  await command(names);
}

async function build(names: readonly PartName[]): Promise<void> {
  await ensureParts(names, placesOf(process.env), report);
  print(`${names.length} parts are ready`);
}

async function where(names: readonly PartName[]): Promise<void> {
  const places = placesOf(process.env);
  await ensureParts(names, places, report);
  for (const name of names) {
    print(findBinary(name, places) ?? '');
  }
}

async function up(parts: readonly ControlPlanePart[]): Promise<void> {
  await ensureParts(['etcd', 'kube-apiserver', ...parts], placesOf(process.env), report);
  const start = Date.now();
  const cluster = await startCluster({ parts, byHand: true });
  print(`export KUBECONFIG=${cluster.site.kubeconfig}`);
  report(
    `${cluster.running().length} parts are up after ${((Date.now() - start) / 1000).toFixed(1)} s; Ctrl-C ends them`,
  );
  const broken = cluster.running().map(async ({ name, ended, log }) => `${name} ended (${await ended}); see ${log}`);
  const why = await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM'), ...broken]);
  const failed = typeof why === 'string';
  await cluster.stop({ keepLogs: failed });
  if (failed) {
    throw new Error(why);
  }
}

async function down(): Promise<void> {
  const runs = currentRuns().filter(({ byHand }) => byHand);
  for (const { owner } of runs) {
    process.kill(owner, 'SIGTERM');
  }
  const pids = runs.flatMap(({ owner, parts }) => [owner, ...parts.map(({ pid }) => pid)]);
  while (pids.some(isAlive)) {
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  print(`${runs.length} ended`);
}

function status(): void {
  const runs = currentRuns();
  const rows = runs.flatMap(({ directory, parts }) =>
    parts.map(({ name, version, pid, port }) => {
      const memory = residentMegabytes(pid);
      return [name, version, String(pid), String(port ?? '-'), `${memory ?? 0} MB`, directory];
    }),
  );
  const table = [['NAME', 'VERSION', 'PID', 'PORT', 'MEMORY', 'DIRECTORY'], ...rows];
  const widths = (table[0] ?? []).map((_, column) => Math.max(...table.map((row) => (row[column] ?? '').length)));
  for (const row of table) {
    print(
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    );
  }
}

function named<T extends string>(names: readonly string[], all: readonly T[], known: (name: string) => name is T): T[] {
  const wrong = names.filter((name) => !known(name));
  if (wrong.length > 0) {
    throw new Error(`unknown part ${wrong.join(', ')}; there are ${all.join(', ')}`);
  }
  return names.length === 0 ? [...all] : names.filter(known);
}

function isControlPlanePart(name: string): name is ControlPlanePart {
  return Object.hasOwn(controlPlane, name);
}

/** Results go to standard output, so that `up` can be evaluated by a shell; progress does not. */
function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

function report(line: string): void {
  process.stderr.write(`${line}\n`);
}

main(process.argv.slice(2)).catch((error: unknown) => {
  report(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
});
