import type { Logger } from 'pino';
import type { Kube } from '../kube/client.ts';
import type { Manifest } from '../kube/model/manifest.ts';
import type { Target } from '../kube/model/plan.ts';
import type { Admission } from './admission.ts';
import type { Conditions, ConditionTable } from './conditions.ts';
import type { ConfigSchema } from './config.ts';
import type { Memory } from './memory.ts';
import type { FunctionMetrics } from './metrics.ts';
import type { Site } from './names.ts';
import type { Permission } from './permissions.ts';
import type { Scaling } from './scaling.ts';
import type { Tick, Trigger } from './triggers.ts';

/**
 * One function: its triggers, its rights and its handlers. The runtime does everything else.
 *
 * ```ts
 * export default defineFunction<Config>({
 *   name: 'my-function',
 *   summary: 'annotates ConfigMaps with the names of their keys',
 *   config: Config,
 *   on: () => [{ resource: configMaps, mode: 'Reference', scope: 'own', handle: sync }],
 *   tick: { schedule: '0 * * * *', handle: sync },
 *   permissions: () => [{ groups: [''], resources: ['configmaps'], verbs: ['get', 'list', 'patch'], scope: 'own' }],
 * });
 * ```
 */
export interface Definition<C = unknown> {
  /** In kebab-case; the name of the folder, the manifests, the field manager and the metrics. */
  readonly name: string;
  /** One sentence about what it does for a cluster. */
  readonly summary: string;
  readonly config: ConfigSchema<C>;
  /** Settings that it no longer has, each with one sentence on what replaced it. One that is still set is reported. */
  readonly formerSettings?: Readonly<Record<string, string>>;
  /** The function implements DRY_RUN itself, because it must write its report even then. */
  readonly ownDryRun?: boolean;
  /** The triggers. They depend on the settings, because a feature that is off watches nothing. */
  readonly on?: (config: C, site: Site) => readonly Trigger<C>[];
  readonly tick?: Tick<C>;
  /** The webhooks. They depend on the settings and on where the function is installed. */
  readonly admit?: (config: C, site: Site) => readonly Admission<C>[];
  readonly routes?: readonly Route<C>[];
  readonly loops?: readonly Loop<C>[];
  /** Updates gauges about the cluster; called when the metrics of the events role are scraped. */
  readonly measure?: (context: Context<C>) => Promise<void>;
  /**
   * `server`: `context.now()` is corrected by the API server's clock, which all instances share. For functions whose
   * instances compare times that others wrote. Default: `machine`.
   */
  readonly clock?: 'machine' | 'server';
  /** What can be wrong with its job, and what to do about it. */
  readonly conditions?: ConditionTable;
  /** The exact rights it needs. A feature that is off needs none. */
  readonly permissions?: (config: C, site: Site) => readonly Permission[];
  /**
   * Why the process is not ready, for example before the first snapshot; `undefined` if it is ready. Checked in the
   * admission role if the function admits, otherwise in the events role.
   */
  readonly ready?: (context: Context<C>) => string | undefined;
  /** The custom kinds of the function. They and all their objects stay when the function leaves. */
  readonly kinds?: readonly Manifest[];
  /** Further objects of an installation, for example a policy that restricts its account. */
  readonly objects?: (config: C, site: Site) => readonly Manifest[];
  /** ConfigMaps mounted as files in the admission role, so that it can start without the API server. */
  readonly mounts?: (config: C) => readonly Mount[];
  readonly scaling?: Scaling;
  /** The longest run of a handler, unless TIMEOUT_SECONDS is set. */
  readonly timeoutSeconds?: number;
  /** The objects that it creates for itself. They are deleted last when it leaves a cluster. */
  readonly keeps?: (config: C, site: Site) => readonly Kept[];
  /**
   * Undoes its changes in objects of others before it leaves the cluster. Returns what remains and why. Called until
   * nothing remains, after all triggers are removed, and once more when no workload runs any more.
   */
  readonly release?: (context: Context<C>) => Promise<readonly string[]>;
}

/** A ConfigMap in the function's own namespace, which may be absent, and the directory of its keys. */
export interface Mount {
  readonly configMap: string;
  readonly path: string;
}

/**
 * What every handler gets: settings, client, log, and the only clock and timers it may use.
 *
 * | field                    | use                                             |
 * | ------------------------ | ----------------------------------------------- |
 * | `config`                 | the parsed settings                             |
 * | `kube`                   | reads and writes the cluster                    |
 * | `now`, `later`, `signal` | the time, work for later, the deadline          |
 * | `memory`                 | caches that may vanish at any time              |
 * | `conditions`             | reports what is wrong                           |
 * | `metrics`, `log`         | counters and gauges; structured log lines       |
 */
export interface Context<C = unknown> {
  readonly config: C;
  readonly kube: Kube;
  readonly log: Logger;
  readonly metrics: FunctionMetrics;
  /** The namespace of this process. */
  readonly namespace: string;
  /** The time of this machine, or of the API server if the definition has `clock: 'server'`. */
  readonly now: () => Date;
  /** Aborts at the deadline of the run. */
  readonly signal: AbortSignal;
  readonly later: Later<C>;
  /** What this instance caches between requests. It is lost with the process. */
  readonly memory: Memory;
  /** What is wrong with the function's job. */
  readonly conditions: Conditions;
}

/** An object that a function creates for itself. */
export interface Kept extends Target {
  /** The annotation that distinguishes it from an object of the same name that somebody else created. */
  readonly mark?: string;
}

/**
 * Runs `work` once at `at`, with a new context, because the handler's context has ended by then. Only for intent that
 * is already durable in the cluster: the work also runs when the process drains, and is lost when the process dies. A
 * second call with the same key replaces the work and keeps the earlier time.
 *
 * ```ts
 * later('flush', new Date(now().getTime() + 30_000), flush);
 * ```
 */
export type Later<C = unknown> = (key: string, at: Date, work: (context: Context<C>) => Promise<void>) => void;

/** A plain HTTP route, for people and pipelines. */
export interface Route<C = unknown> {
  readonly method: 'GET' | 'POST';
  readonly path: `/${string}`;
  /** `text` passes the body on unparsed, for a route that reports syntax errors itself. Default: `json`. */
  readonly body?: 'json' | 'text';
  readonly handle: (request: RouteRequest, context: Context<C>) => Reply | Promise<Reply>;
}

export interface RouteRequest {
  readonly query: URLSearchParams;
  readonly params: Readonly<Record<string, string>>;
  /** The header `Authorization`. */
  readonly authorization?: string;
  /** The parsed JSON; absent if there is no body. */
  readonly body?: unknown;
}

/** A string is sent as text, anything else as JSON. */
export interface Reply {
  readonly status?: number;
  readonly body: unknown;
}

/** Work that repeats while the process runs: refreshing a snapshot, polling a certificate. */
export interface Loop<C = unknown> {
  readonly name: string;
  readonly role: 'events' | 'admission' | 'all';
  readonly everyMs: (config: C) => number;
  readonly run: (context: Context<C>) => Promise<void>;
}
