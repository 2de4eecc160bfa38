import type { Running } from '../../runtime/main.ts';
import type { Sandbox } from '../../sandbox/sandbox.ts';
import type { Found } from '../functions.ts';
import { trialsOf } from './samples.ts';
import { paintName, wrapCommand, wrapText, type Page } from './layout.ts';
import type { StartOptions } from './options.ts';

export interface Scene {
  readonly options: StartOptions;
  readonly found: readonly Found[];
  readonly running: Running;
  readonly sandbox: Sandbox | undefined;
  readonly kubeconfigFile: string;
  readonly server: URL;
}

/** What runs where, and what to try. */
export function intro(scene: Scene, page: Page): string {
  return [
    '',
    ...(scene.sandbox === undefined ? clusterLines(scene) : sandboxLines(scene)),
    '',
    ...functionLines(scene, page),
    '',
    'Try, in another terminal:',
    ...trialLines(scene).flatMap((trial) => wrapCommand(trial, columnsOf(page) - 2).map((line) => `  ${line}`)),
    '',
    'Ctrl-C ends it. What happens:',
    '',
    '',
  ].join('\n');
}

function columnsOf({ columns = Number.POSITIVE_INFINITY }: Page): number {
  return columns;
}

function sandboxLines({ sandbox, kubeconfigFile }: Scene): string[] {
  return [
    'kube-reflex on its sandbox cluster',
    '',
    `  API           ${sandbox?.url ?? ''}`,
    `  for curl      ${sandbox?.httpUrl ?? ''}`,
    `  kubeconfig    ${kubeconfigFile}`,
  ];
}

function clusterLines({ options, found, server }: Scene): string[] {
  const admitting = found.filter(({ definition }) => definition.admit !== undefined);
  return [
    options.dryRun
      ? `kube-reflex looks at the cluster ${server.href} and writes nothing (--dry-run)`
      : `kube-reflex WRITES TO THE CLUSTER ${server.href}`,
    `  as the current context of ${options.kubeconfig ?? ''} says`,
    ...admitting.map(
      ({ definition }) =>
        `  ${definition.name}: its webhooks are not registered there, so nothing is admitted through it`,
    ),
  ];
}

function functionLines({ found, running }: Scene, page: Page): string[] {
  const width = Math.max(...found.map(({ definition }) => definition.name.length));
  return found.flatMap(({ definition: { name, summary } }) => [
    `  ${paintName(name.padEnd(width), page)}  ${running.url.href}${name}`,
    ...wrapText(summary, columnsOf(page) - 4).map((line) => `    ${line}`),
  ]);
}

function trialLines({ found, running, sandbox, kubeconfigFile }: Scene): string[] {
  const { href } = running.url;
  const trials = found.flatMap(({ folder, definition: { name } }) =>
    trialsOf(folder).map((trial) => trial.replace('{url}', `${href}${name}`)),
  );
  return [
    ...(sandbox === undefined ? [] : [`export KUBECONFIG=${kubeconfigFile}`, ...trials]),
    ...found.slice(0, 1).map(({ definition: { name } }) => `curl -s ${href}${name}/doctor`),
  ];
}
