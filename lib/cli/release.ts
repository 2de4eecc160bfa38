import { parseArgs } from 'node:util';
import { createTransport } from '../kube/transport.ts';
import { createLog } from '../base/log.ts';
import { standardInstallation } from '../install/manifests/installation.ts';
import { leave, type Left } from '../install/release/leave.ts';
import { chosenCluster } from './cluster.ts';
import { ownFunctions } from './functions.ts';

const usage = `usage: kube-reflex release FUNCTION [--kubeconfig FILE] [--namespace NAMESPACE] [--dry-run]
  takes a function out of a cluster and restores what it changed there; may be repeated at any time
  --kubeconfig  default: as kubectl, that is KUBECONFIG, else ~/.kube/config, else the cluster of this pod
  --namespace   where the function is installed (default: ${standardInstallation.namespace})
  --set         NAME=VALUE, a setting of the function that its workload does not show, or no longer; repeatable
  --patience    seconds to wait for rollouts and pods that end (default: 180)
  --dry-run     only tells what it would do
  exit code 0: nothing is left but what the manifests brought, 1: something is, 2: the cluster could not be asked`;

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      kubeconfig: { type: 'string' },
      namespace: { type: 'string', default: standardInstallation.namespace },
      set: { type: 'string', multiple: true, default: [] },
      patience: { type: 'string', default: '180' },
      'dry-run': { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    console.log(usage);
    return 0;
  }
  const [name, ...others] = positionals;
  const found = await ownFunctions();
  const definition = found.map((each) => each.definition).find((each) => each.name === name);
  if (definition === undefined || others.length > 0) {
    throw new Error(`it takes one of ${found.map((each) => each.definition.name).join(', ')}\n${usage}`);
  }
  const dryRun = values['dry-run'];
  const { access, origin } = chosenCluster(values.kubeconfig, process.env);
  const transport = createTransport(access);
  try {
    const { href } = await transport.server();
    console.log(`${definition.name} ${dryRun ? 'would leave' : 'leaves'} ${href} (${origin})`);
    const left = await leave(definition, {
      transport,
      namespace: values.namespace,
      environment: environmentOf(values.set),
      dryRun,
      log: createLog({ level: 'silent', readable: false }),
      now: () => new Date(),
      patienceMs: secondsOf(values.patience) * 1000,
    });
    console.log(summary(left, dryRun));
    return left.remains.length === 0 ? 0 : 1;
  } finally {
    transport.close();
  }
}

function secondsOf(text: string): number {
  if (!/^\d+$/.test(text)) {
    throw new Error(`--patience takes seconds, not ${JSON.stringify(text)}`);
  }
  return Number(text);
}

function environmentOf(settings: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    settings.map((setting) => {
      const [, name, value] = /^([A-Z0-9_]+)=(.*)$/s.exec(setting) ?? [];
      if (name === undefined || value === undefined) {
        throw new Error(`--set takes NAME=VALUE, not ${JSON.stringify(setting)}`);
      }
      return [name, value];
    }),
  );
}

function summary({ steps, remains }: Left, dryRun: boolean): string {
  const done = steps.length === 0 ? ['there was nothing to take back'] : steps;
  const title = dryRun ? 'it could not do, or would wait for:' : 'still there; repeat this once it is solved:';
  const left = remains.length === 0 ? [] : [title, ...indented(remains)];
  return [...indented(done), ...left].join('\n');
}

function indented(lines: readonly string[]): string[] {
  return lines.map((line) => `  ${line}`);
}

try {
  process.exitCode = await main();
} catch (error) {
  console.error(`release: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 2;
}
