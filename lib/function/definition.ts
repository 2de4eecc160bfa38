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

/** One function: what wakes it, what it may do, and its handlers. Everything else is the runtime's. */
export interface Definition<C = unknown> {
  /** kebab-case; the folder, the manifests, the field manager and the metrics carry it. */
  readonly name: string;
  /** One sentence for people: what a cluster gains from it. */
  readonly summary: string;
  readonly config: ConfigSchema<C>;
  /** Settings that it no longer has, each with one sentence on what replaced it. One that is still set is reported. */
  readonly formerSettings?: Readonly<Record<string, string>>;
  /** It heeds DRY_RUN by itself, since its report has to be written even then. */
  readonly ownDryRun?: boolean;
  /** What wakes it. A function of the settings, since a feature that is off watches nothing. */
  readonly on?: (config: C, site: Site) => readonly Trigger<C>[];
  readonly tick?: Tick<C>;
  /** What it is asked before an object is stored: a function of the settings and of where it is installed. */
  readonly admit?: (config: C, site: Site) => readonly Admission<C>[];
  readonly routes?: readonly Route<C>[];
  readonly loops?: readonly Loop<C>[];
  /** Sets the gauges that tell of the cluster, each time somebody reads the metrics of the events role. */
  readonly measure?: (context: Context<C>) => Promise<void>;
  /**
   * `server`: `context.now()` is corrected by what the answers of the API server say about its clock, the one clock that
   * all instances share. For a function whose instances compare times that others wrote. Default `machine`.
   */
  readonly clock?: 'machine' | 'server';
  /** What can be wrong with its job, and what to do about it. */
  readonly conditions?: ConditionTable;
  /** The exact rights it needs; a feature that is off asks for nothing. */
  readonly permissions?: (config: C, site: Site) => readonly Permission[];
  /**
   * Why nothing should be sent here yet, such as before the first snapshot; `undefined` when ready. A function that
   * admits is asked where it admits, any other where it gets its events.
   */
  readonly ready?: (context: Context<C>) => string | undefined;
  /** The kinds it brings, in a file of their own: they stay, with all objects of them, when the function goes. */
  readonly kinds?: readonly Manifest[];
  /** What else comes with an installation, whole: its own kinds, a policy that confines its account. */
  readonly objects?: (config: C, site: Site) => readonly Manifest[];
  /** ConfigMaps that the admission half finds as files, so that it can start while the API server is away. */
  readonly mounts?: (config: C) => readonly Mount[];
  readonly scaling?: Scaling;
  /** Longest run of a handler, where TIMEOUT_SECONDS does not say otherwise. */
  readonly timeoutSeconds?: number;
  /** What it makes for itself, by name: the last to go when it leaves a cluster. */
  readonly keeps?: (config: C, site: Site) => readonly Kept[];
  /**
   * Takes back what it changed in objects of others, because it leaves the cluster. Returns what is still there and why;
   * it is called again until nothing is, with nobody left to wake the function, and once more when it no longer runs.
   */
  readonly release?: (context: Context<C>) => Promise<readonly string[]>;
}

/** A ConfigMap of the function's own namespace, which need not exist, and where its keys appear. */
export interface Mount {
  readonly configMap: string;
  readonly path: string;
}

/** What every handler gets: settings, the cluster, and the only clock and timers it may use. */
export interface Context<C = unknown> {
  readonly config: C;
  readonly kube: Kube;
  readonly log: Logger;
  readonly metrics: FunctionMetrics;
  /** The namespace this process runs in. */
  readonly namespace: string;
  /** The time: this machine's, or the API server's where the definition asks for it. */
  readonly now: () => Date;
  /** Aborted at the deadline of the run. */
  readonly signal: AbortSignal;
  readonly later: Later<C>;
  /** What this instance remembers between requests. Nothing that matters: it dies with the process. */
  readonly memory: Memory;
  /** What is wrong with the function's job, for people. */
  readonly conditions: Conditions;
}

/** An object that a function makes for itself. */
export interface Kept extends Target {
  /** The annotation by which to tell it from one of the same name that somebody else made. */
  readonly mark?: string;
}

/**
 * Runs `work` once at `at`, with a context of its own: that of the handler is over by then. Only for intent that is
 * already durable in the cluster: it also runs when the process drains, and is lost when the process dies. A second call
 * with the same key replaces the work and keeps the earlier time.
 */
export type Later<C = unknown> = (key: string, at: Date, work: (context: Context<C>) => Promise<void>) => void;

/** A plain HTTP route, for people and pipelines. */
export interface Route<C = unknown> {
  readonly method: 'GET' | 'POST';
  readonly path: `/${string}`;
  /** `text` leaves the body as it is, for a route that tells by itself what is wrong with it. Default `json`. */
  readonly body?: 'json' | 'text';
  readonly handle: (request: RouteRequest, context: Context<C>) => Reply | Promise<Reply>;
}

export interface RouteRequest {
  readonly query: URLSearchParams;
  readonly params: Readonly<Record<string, string>>;
  /** The header of that name, by which callers say who they are. */
  readonly authorization?: string;
  /** Parsed JSON, absent without a body. */
  readonly body?: unknown;
}

/** A string is sent as text, anything else as JSON. */
export interface Reply {
  readonly status?: number;
  readonly body: unknown;
}

/** Work that repeats while the process lives: refreshing a snapshot, polling a certificate. */
export interface Loop<C = unknown> {
  readonly name: string;
  readonly role: 'events' | 'admission' | 'all';
  readonly everyMs: (config: C) => number;
  readonly run: (context: Context<C>) => Promise<void>;
}
