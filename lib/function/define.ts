import type { Operation } from 'fast-json-patch';
import type { Logger } from 'pino';
import type { LabelSelector } from '../kube/selector.ts';
import type { Kube } from '../kube/client.ts';
import type { Resource } from '../kube/resource.ts';
import type { KubeObject } from '../kube/wire.ts';
import type { Manifest } from '../manifests/manifest.ts';
import type { AdmissionRequest } from '../review/review.ts';
import { withCertificate } from '../tls/definition.ts';
import type { ConfigSchema } from './config.ts';
import type { FunctionMetrics } from './metrics.ts';
import type { Target } from './plan.ts';

/** One function: what wakes it, what it may do, and its handlers. Everything else is the runtime's. */
export interface Definition<C = unknown> {
  /** kebab-case; the folder, the manifests, the field manager and the metrics carry it. */
  readonly name: string;
  /** One sentence for people: what a cluster gains from it. */
  readonly summary: string;
  readonly config: ConfigSchema<C>;
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

/** Where a function is installed. */
export interface Site {
  readonly namespace: string;
}

/** What every handler gets: settings, the cluster, and the only clock and timers it may use. */
export interface Context<C = unknown> {
  readonly config: C;
  readonly kube: Kube;
  readonly log: Logger;
  readonly metrics: FunctionMetrics;
  /** The namespace this process runs in. */
  readonly namespace: string;
  readonly now: () => Date;
  /** Aborted at the deadline of the run. */
  readonly signal: AbortSignal;
  readonly later: Later<C>;
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

/** What woke a handler. Events that waited for the same run arrive together; a tick asks for a full pass. */
export interface Wake {
  readonly subjects: readonly Subject[];
  readonly tick: boolean;
}

/** The object that an event was about. A hint to look, never what to believe. */
export interface Subject {
  readonly change: 'add' | 'update' | 'delete';
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace?: string;
  readonly name: string;
  /** Resource mode only: the object as it was when the event was sent. */
  readonly object?: KubeObject;
}

export type Handler<C> = (context: Context<C>, wake: Wake) => Promise<void>;

export type Trigger<C = unknown> = Watch<C> | Hint<C>;

/** Changes of one kind. */
export interface Watch<C = unknown> {
  readonly resource: Resource;
  /** Reference events carry only the name; Resource events the whole object. */
  readonly mode: 'Reference' | 'Resource';
  readonly scope: Scope;
  readonly selector?: LabelSelector;
  /** Only objects of these names. */
  readonly names?: readonly string[];
  /** `function` shares one run among all events of the handler, `object` runs once per object. Default `function`. */
  readonly key?: 'function' | 'object';
  readonly handle: Handler<C>;
}

/** An event type of our own, sent by hand or by a pipeline. It can only cause what a tick could cause. */
export interface Hint<C = unknown> {
  readonly type: `dev.kube-reflex.${string}`;
  readonly handle: Handler<C>;
}

/** `cluster`: everywhere; `own`: the namespace of the function. */
export type Scope = 'cluster' | 'own' | { readonly namespaces: readonly string[] };

export interface Tick<C = unknown> {
  /** Five-field cron schedule, in UTC. */
  readonly schedule: string;
  readonly handle: Handler<C>;
}

/** A path that answers AdmissionReviews, and the webhooks by which the API server asks there. */
export interface Admission<C = unknown> {
  readonly path: `/${string}`;
  /** Further paths with the same answers, such as one that people know from elsewhere. */
  readonly aliases?: readonly `/${string}`[];
  readonly type: 'mutating' | 'validating';
  /** What a request gets when the handler fails or runs out of time. */
  readonly onError: 'allow' | 'deny';
  readonly timeoutSeconds: number;
  readonly webhooks: readonly Webhook[];
  readonly decide: (request: AdmissionRequest, context: Context<C>) => Verdict | Promise<Verdict>;
}

/** One entry of a webhook configuration: when the API server asks. */
export interface Webhook {
  /** Fully qualified: at least three labels, `validate.<function>.kube-reflex.dev`. */
  readonly name: string;
  /** The configuration object that holds the entry. Default: the one that is named after the function. */
  readonly configuration?: string;
  readonly rules: readonly AdmissionRule[];
  readonly failurePolicy: 'Ignore' | 'Fail';
  /** Default: all namespaces but those without which no function could start. */
  readonly namespaceSelector?: LabelSelector;
  readonly objectSelector?: LabelSelector;
  readonly matchConditions?: readonly MatchCondition[];
  /** Default `Equivalent`. */
  readonly matchPolicy?: 'Exact' | 'Equivalent';
  /** Mutating webhooks only. Default `IfNeeded`. */
  readonly reinvocationPolicy?: 'Never' | 'IfNeeded';
}

/** A CEL expression without which the API server does not ask. */
export interface MatchCondition {
  readonly name: string;
  readonly expression: string;
}

export interface AdmissionRule {
  readonly operations: readonly ('CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT')[];
  readonly apiGroups: readonly string[];
  readonly apiVersions: readonly string[];
  readonly resources: readonly string[];
  readonly scope?: 'Namespaced' | 'Cluster' | '*';
}

export type Verdict = Allowed | Denied;

export interface Allowed {
  readonly allow: true;
  readonly patch?: readonly Operation[];
  readonly warnings?: readonly string[];
  readonly auditAnnotations?: Readonly<Record<string, string>>;
}

export interface Denied {
  readonly allow: false;
  readonly message: string;
  /** HTTP status that the caller of the API sees. Default 403. */
  readonly code?: number;
  readonly reason?: string;
  /** The fields that are to blame, for clients that show them one by one. */
  readonly causes?: readonly Cause[];
  readonly warnings?: readonly string[];
  readonly auditAnnotations?: Readonly<Record<string, string>>;
}

export interface Cause {
  readonly reason?: string;
  readonly field?: string;
  readonly message?: string;
}

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

export interface Permission {
  readonly groups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
  /** Only objects of these names; `create` and `list` can't be limited so. */
  readonly names?: readonly string[];
  readonly scope: Scope;
  /** Which workload needs it. Default: both. */
  readonly role?: 'events' | 'admission';
}

/** Departures from the common deployment defaults. */
export interface Scaling {
  readonly minScale?: number;
  readonly maxScale?: number;
  readonly cpu?: string;
  readonly memory?: string;
  /**
   * Megabytes that old objects may take. From 2 GB on, as V8 would allow itself, it lets the heap grow fourfold before it
   * looks for garbage; below, by half as much again: less memory, for more CPU where much is read at once.
   */
  readonly heapMb?: number;
  /** Megabytes that young objects may take, twice. Half as many spare their double, for some CPU. */
  readonly youngMb?: number;
  /**
   * Areas of memory that the threads of the process share for what is no object of JavaScript. By default each thread
   * has its own and keeps what it once took; one for all holds less, but they wait for each other: a start takes longer.
   */
  readonly mallocArenas?: number;
}

/**
 * The definition, completed by what its certificate needs if it admits. `config` types the context of every handler; the
 * type of the settings is forgotten on the way out, since the runtime hands each definition only what its own schema has
 * parsed.
 */
export function defineFunction<C>(definition: Definition<C>): Definition {
  return withCertificate(definition) as Definition;
}
