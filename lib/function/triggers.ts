import type { Resource } from '../kube/model/resource.ts';
import type { LabelSelector } from '../kube/model/selector.ts';
import type { KubeObject } from '../kube/model/wire.ts';
import type { Context } from './definition.ts';
import type { Scope } from './permissions.ts';

/** What woke a handler. Events that waited for the same run arrive together; a tick asks for a full pass. */
export interface Wake {
  readonly subjects: readonly Subject[];
  readonly tick: boolean;
}

/** The object of an event. A hint to look: read the live object before acting. */
export interface Subject {
  readonly change: 'add' | 'update' | 'delete';
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace?: string;
  readonly name: string;
  /** Only in mode `Resource`: the object when the event was sent. */
  readonly object?: KubeObject;
}

export type Handler<C> = (context: Context<C>, wake: Wake) => Promise<void>;

export type Trigger<C = unknown> = Watch<C> | Hint<C>;

/**
 * Wakes the handler when objects of a kind change.
 *
 * ```ts
 * { resource: ingresses, mode: 'Reference', scope: 'cluster', key: 'object', handle: syncIngress }
 * ```
 */
export interface Watch<C = unknown> {
  readonly resource: Resource;
  /** `Reference` events carry only the name, `Resource` events the whole object. */
  readonly mode: 'Reference' | 'Resource';
  readonly scope: Scope;
  readonly selector?: LabelSelector;
  /** Only objects with these names. */
  readonly names?: readonly string[];
  /** `function`: all events of the handler share a run; `object`: one run per object. Default: `function`. */
  readonly key?: 'function' | 'object';
  readonly handle: Handler<C>;
}

/** A custom event type, sent by hand or by a pipeline. It can only cause what a tick could cause. */
export interface Hint<C = unknown> {
  readonly type: `dev.kube-reflex.${string}`;
  readonly handle: Handler<C>;
}

export interface Tick<C = unknown> {
  /** Five-field cron schedule, in UTC. */
  readonly schedule: string;
  readonly handle: Handler<C>;
}
