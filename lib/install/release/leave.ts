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
  /** Settings that count in place of those that the workload was given, and where there is no workload any more. */
  readonly environment: Environment;
  readonly dryRun: boolean;
  readonly log: Logger;
  readonly now: () => Date;
  /** How long to wait for what others have to finish, such as the rollout of a Deployment. */
  readonly patienceMs: number;
}

/** How a function left. */
export interface Left {
  /** What was done, in order. */
  readonly steps: readonly string[];
  /** What is still there, and why. Empty: nothing but what its manifests brought. */
  readonly remains: readonly string[];
}

/**
 * Takes a function out of a cluster: nobody wakes it any more, what it changed is as before, it no longer runs, what it
 * did meanwhile is taken back too, and what it kept for itself is gone. The workload goes only after the first time that
 * everything is restored, since it holds the settings by which to find what was changed: so a death at any moment is
 * healed by a repetition.
 */
export async function leave(definition: Definition, options: LeaveOptions): Promise<Left> {
  const report: Report = { steps: [], calls: 0 };
  const { context, leaver } = await arrive(definition, options, report);
  const remains: string[] = [];
  for (const stage of stagesOf({ context, leaver }, options)) {
    remains.push(...(await stage()));
    // A dry run tells all that would be done, and what would keep it from being done.
    if (remains.length > 0 && !options.dryRun) {
      break;
    }
  }
  return { steps: report.steps, remains };
}

/** Does its part and returns what keeps the next from beginning. */
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
      definition: { ...definition, ownDryRun: false }, // its report need not be written any more
      config,
      settings: parseConfig(FunctionSettings, { DRY_RUN: String(dryRun) }),
      transport,
      namespace,
      metrics: createMetrics(version),
      log,
      now,
      later: () => undefined, // whoever leaves looks again by himself
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

/** Whoever does not know all settings does not know where to look for what was changed. */
function demandSettings(installed: Installed | undefined, given: Environment): void {
  const unknown = (installed?.unread ?? []).filter((variable) => given[variable] === undefined);
  const closed = installed?.closed ?? [];
  if (closed.length > 0) {
    const wish = 'run this as somebody who may, since nobody else knows which settings are in there';
    throw new Error(`its workload takes settings from ${closed.join(', ')}, which you may not read: ${wish}`);
  }
  if (unknown.length > 0) {
    throw new Error(`its workload does not show ${unknown.join(', ')}: write it into its env, or give it with --set`);
  }
}

/** A setting replaces that of the workload whichever way it is written there. */
function underBothNames(environment: Environment, { name }: Definition): Environment {
  const settings = Object.entries(environment);
  return Object.fromEntries(
    settings.flatMap(([key, value]) => variablesFor(key, name).map((variable) => [variable, value])),
  );
}

const pauseMs = 500;

/** Looks again until nothing remains, as long as there is time. */
async function settled(deadline: number, look: Stage): Promise<readonly string[]> {
  for (;;) {
    const remains = await once(look);
    if (remains.length === 0 || Date.now() + pauseMs > deadline) {
      return remains;
    }
    await pause(pauseMs);
  }
}

/** Whoever was faster has changed what was read: that is a reason to look again, not to give up. */
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
