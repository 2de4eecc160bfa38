import type { Running } from '../../runtime/main.ts';
import type { Sandbox } from '../../sandbox/sandbox.ts';
import type { Found } from '../functions.ts';
import { trialsOf } from './samples.ts';
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
export function intro(scene: Scene): string {
  return [
    '',
    ...(scene.sandbox === undefined ? clusterLines(scene) : sandboxLines(scene)),
    ...functionLines(scene),
    '',
  ].join('\n');
}

function sandboxLines({ sandbox, kubeconfigFile }: Scene): string[] {
  return [
    'kube-reflex on its sandbox cluster',
    '',
    `  API          ${sandbox?.url ?? ''}  (plain HTTP for curl: ${sandbox?.httpUrl ?? ''})`,
    `  kubeconfig   ${kubeconfigFile}`,
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

function functionLines({ found, running, sandbox, kubeconfigFile }: Scene): string[] {
  const { href } = running.url;
  const width = Math.max(12, ...found.map(({ definition }) => definition.name.length));
  return [
    ...found.flatMap(({ definition: { name, summary } }) => [
      `  ${name.padEnd(width)} ${href}${name}`,
      `    ${summary}`,
    ]),
    '',
    'Try, in another terminal:',
    ...(sandbox === undefined ? [] : found.flatMap((each) => trialLines(each, { href, kubeconfigFile }))),
    ...found.slice(0, 1).map(({ definition: { name } }) => `  curl -s ${href}${name}/doctor`),
    '',
    'Ctrl-C ends it. What happens:',
    '',
  ];
}

function trialLines(
  { folder, definition: { name } }: Found,
  { href, kubeconfigFile }: { readonly href: string; readonly kubeconfigFile: string },
): string[] {
  return trialsOf(folder).map((trial) => {
    const command = trial.replace('{url}', `${href}${name}`);
    return `  ${command.replace(/^kubectl /, `kubectl --kubeconfig ${kubeconfigFile} `)}`;
  });
}
