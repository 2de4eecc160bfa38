import { createLog } from '../../base/log.ts';
import { leave, type Left } from '../../install/release/leave.ts';
import { withCluster } from '../cluster.ts';
import type { Outcome } from '../framework/command.ts';
import { UsageError } from '../framework/errors.ts';
import { chosenFunctions } from '../functions.ts';
import type { ReleaseInput } from './release.ts';

export async function run({ options, positionals, environment, note }: ReleaseInput): Promise<Outcome> {
  const [found] = await chosenFunctions(positionals);
  if (found === undefined) {
    throw new UsageError('it needs FUNCTION');
  }
  const { definition } = found;
  const { name } = definition;
  const { kubeconfig, namespace, 'dry-run': dryRun } = options;
  const given = environmentOf(options.set);
  const patienceMs = secondsOf(options.patience) * 1000;
  return withCluster({ kubeconfig, environment }, async ({ transport, description }) => {
    note(`${name} ${dryRun ? 'would leave' : 'leaves'} ${description}`);
    const log = createLog({ level: 'silent', readable: false });
    const left = await leave(definition, {
      ...{ transport, namespace, environment: given, dryRun, log, patienceMs },
      now: () => new Date(),
    });
    return {
      code: left.remains.length === 0 ? 0 : 1,
      text: summary(left, dryRun),
      data: { function: name, dryRun, ...left },
    };
  });
}

function secondsOf(text: string): number {
  if (!/^\d+$/.test(text)) {
    throw new UsageError(`--patience takes seconds, not ${JSON.stringify(text)}`);
  }
  return Number(text);
}

function environmentOf(settings: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    settings.map((setting) => {
      const [, name, value] = /^([A-Z0-9_]+)=(.*)$/s.exec(setting) ?? [];
      if (name === undefined || value === undefined) {
        throw new UsageError(`--set takes NAME=VALUE, not ${JSON.stringify(setting)}`);
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
