import type { Logger } from 'pino';
import { parseConfig, variablesFor, type Environment } from '../../function/config.ts';
import type { Context, Definition } from '../../function/definition.ts';
import { Failure } from '../../base/failure.ts';
import type { Transport } from '../../kube/transport.ts';
import { configOf, findInstallation, type Installed } from '../manifests/installed.ts';
import { createMetrics } from '../../runtime/metrics.ts';
import { pause } from '../../base/pause.ts';
import { createRunner, type Report } from '../../runtime/runner.ts';
import { FunctionSettings } from '../../function/settings.ts';
import { version } from '../../base/version.ts';
import { remove, returned, runningPods, stopAsking, wakersOf, workloadsOf, type Leaver } from './stop.ts';

export interface LeaveOptions {
  readonly transport: Transport;
  readonly namespace: string;
  /** Settings that override those of the workload, and replace them if there is no workload any more. */
  readonly environment: Environment;
  readonly dryRun: boolean;
  readonly log: Logger;
  readonly now: () => Date;
  /** How long to wait for others, for example for the rollout of a Deployment. */
  readonly patienceMs: number;
}

/** The result of leaving. */
export interface Left {
  /** What was done, in order. */
  readonly steps: readonly string[];
  /** What remains, and why. If empty, only the objects of its manifests remain. */
  readonly remains: readonly string[];
}

/**
 * Takes a function out of a cluster, in stages:
 *
 * | stage | effect                                                                 |
 * | ----- | ---------------------------------------------------------------------- |
 * | 1     | nothing wakes the function any more: webhooks and triggers are removed |
 * | 2     | `release` undoes what it changed in objects of others                  |
 * | 3     | its workloads are removed, and their pods end                          |
 * | 4     | `release` runs again, for changes made in the meantime                 |
 * | 5     | the objects that it created for itself are deleted                     |
 * | 6     | checks that nothing, such as Argo CD, has installed it again           |
 *
 * The workload is removed only after a first complete `release`, because it holds the settings that say where to look.
 * So if it is interrupted at any point, run it again.
 */
export async function leave(definition: Definition, options: LeaveOptions): Promise<Left> {
  const report: Report = { steps: [], calls: 0 };
  const { context, leaver } = await arrive(definition, options, report);
  const remains: string[] = [];
  for (const stage of stagesOf({ context, leaver }, options)) {
    remains.push(...(await stage()));
    // A dry run reports all that would be done, and what would prevent it.
    if (remains.length > 0 && !options.dryRun) {
      break;
    }
  }
  return { steps: report.steps, remains };
}

/** Does its part and returns what prevents the next stage. */
type Stage = () => Promise<readonly string[]>;

function stagesOf({ context, leaver }: Arrived, { dryRun, patienceMs, namespace }: LeaveOptions): readonly Stage[] {
  const { definition, config } = leaver;
  const wakers = wakersOf(leaver);
  const workloads = workloadsOf(leaver);
  const deadline = Date.now() + patienceMs;
  const stage = {
    unasked: () => stopAsking(leaver),
    unwoken: () => remove(leaver, wakers),
    rehearsed: () => once(release),
    restored: () => settled(deadline, release),
    stopped: () => remove(leaver, workloads),
    ended: () => settled(deadline, () => runningPods(leaver)),
    forgotten: () => remove(leaver, definition.keeps?.(config, { namespace }) ?? []),
    away: () => returned(leaver, [...wakers, ...workloads]),
  } satisfies Record<string, Stage>;
  const { unasked, unwoken, rehearsed, restored, stopped, ended, forgotten, away } = stage;
  return dryRun
    ? [unasked, unwoken, rehearsed, stopped, forgotten]
    : [unasked, unwoken, restored, stopped, ended, restored, forgotten, away];

  function release(): Promise<readonly string[]> {
    return definition.release?.(context) ?? Promise.resolve([]);
  }
}

interface Arrived {
  readonly context: Context;
  readonly leaver: Leaver;
}

async function arrive(
  definition: Definition,
  { transport, namespace, environment, dryRun, log, now }: LeaveOptions,
  report: Report,
): Promise<Arrived> {
  function contextWith(config: unknown): Context {
    const runner = createRunner({
      definition: { ...definition, ownDryRun: false }, // the report need not be written any more
      config,
      settings: parseConfig(FunctionSettings, { DRY_RUN: String(dryRun) }),
      transport,
      namespace,
      metrics: createMetrics(version),
      log,
      now,
      later: () => undefined, // there is no later run, the stages are repeated instead
    });
    return runner.context(new AbortController().signal, { report });
  }
  const installed = await findInstallation(definition, { kube: contextWith(undefined).kube, namespace });
  const given = underBothNames(environment, definition);
  demandSettings(installed, given);
  const settings = { ...installed?.environment, ...given };
  const config = configOf(definition, settings);
  const context = contextWith(config);
  return { context, leaver: { definition, config, environment: settings, namespace, kube: context.kube } };
}

/** Without all settings it is unknown where to look for changes. */
function demandSettings(installed: Installed | undefined, given: Environment): void {
  const unknown = (installed?.unread ?? []).filter((variable) => given[variable] === undefined);
  const closed = installed?.closed ?? [];
  if (closed.length > 0) {
    const remedy = 'run this with an account that may, since the settings are not known otherwise';
    throw new Error(`could not read the settings of its workload from ${closed.join(', ')}: forbidden; ${remedy}`);
  }
  if (unknown.length > 0) {
    const why = 'the value is not visible there; write it into its env, or pass it with --set';
    throw new Error(`could not read ${unknown.join(', ')} from its workload: ${why}`);
  }
}

/** A given setting replaces that of the workload, with or without the function's prefix. */
function underBothNames(environment: Environment, { name }: Definition): Environment {
  const settings = Object.entries(environment);
  return Object.fromEntries(
    settings.flatMap(([key, value]) => variablesFor(key, name).map((variable) => [variable, value])),
  );
}

const pauseMs = 500;

/** Repeats until nothing remains or the time is up. */
async function settled(deadline: number, look: Stage): Promise<readonly string[]> {
  for (;;) {
    const remains = await once(look);
    if (remains.length === 0 || Date.now() + pauseMs > deadline) {
      return remains;
    }
    await pause(pauseMs);
  }
}

/** After a conflict, look again instead of giving up. */
async function once(look: Stage): Promise<readonly string[]> {
  try {
    return await look();
  } catch (error) {
    if (error instanceof Failure && error.kind === 'conflict') {
      return [error.message];
    }
    throw error;
  }
}
