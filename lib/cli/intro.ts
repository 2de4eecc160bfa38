import type { Running } from '../main.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import type { Found } from './functions.ts';
import type { StartOptions } from './start-options.ts';

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
    ...(sandbox === undefined ? [] : [`  kubectl --kubeconfig ${kubeconfigFile} get ingress,configmap -A`]),
    ...(sandbox === undefined
      ? []
      : [
          `  kubectl --kubeconfig ${kubeconfigFile} -n shop create ingress hello --class=nginx --rule='hello.example.com/*=hello:80'`,
        ]),
    `  curl -i ${href}${found[0]?.definition.name ?? ''} -H 'ce-specversion: 1.0' -H 'ce-id: 1' -H 'ce-source: me' -H 'ce-type: dev.knative.sources.ping' -X POST`,
    '',
    'Ctrl-C ends it. What happens:',
    '',
  ];
}
