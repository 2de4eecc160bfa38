import type { Logger } from 'pino';
import { Failure } from '../base/failure.ts';
import { createKube } from '../kube/client.ts';
import { Refusal } from '../kube/refusal.ts';
import { apiVersion, type Resource } from '../kube/model/resource.ts';
import type { Transport } from '../kube/transport.ts';
import { watch, type WatchEvent } from '../kube/watch.ts';
import type { KubeObject } from '../kube/model/wire.ts';
import type { Change, ChangedObject } from './event.ts';
import { backoffMs } from '../base/backoff.ts';
import type { Growth } from '../base/doubling.ts';
import type { Pause } from '../base/pause.ts';

/** The objects that one watch covers. */
export interface View {
  readonly resource: Resource;
  /** Absent: all namespaces. */
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
}

export interface Observation extends ChangedObject {
  /** The same for all observations of one object. */
  readonly key: string;
}

export interface ReflectOptions {
  readonly transport: Transport;
  readonly signal: AbortSignal;
  readonly log: Logger;
  readonly now: () => Date;
  readonly observe: (observation: Observation) => void;
  readonly pause: Pause;
  readonly backoff: Growth;
}

/** A watch that lasted this long has worked, even without events. */
const soundMs = 5_000;

/**
 * After this many failures in a row (about ten seconds) the resourceVersion is dropped: the server's history may be
 * another one.
 */
const failuresBeforeRelist = 6;

const changes = { ADDED: 'add', MODIFIED: 'update', DELETED: 'delete' } as const;

/**
 * Lists, then watches, until the signal aborts; then it resolves. Never rejects. Observes every object at start, and
 * each later change once: it records the resourceVersion of every object, so a list after a gap shows what was missed,
 * including deletions. Of an object missing in such a list, only the name is known.
 */
export async function reflect(view: View, options: ReflectOptions): Promise<void> {
  const { signal, log, pause, backoff } = options;
  const reflector = createReflector(view, options);
  let failures = 0;

  async function recover(error: unknown): Promise<void> {
    failures += 1;
    if (signal.aborted) {
      return;
    }
    if (isExpired(error) || failures >= failuresBeforeRelist) {
      reflector.forgetPosition();
    }
    log[isWorthALine(failures) ? 'warn' : 'debug']({ err: error, failures }, 'the watch ended');
    await pause(Math.max(backoffMs(failures, backoff), retryAfterMs(error)), signal);
  }

  while (!signal.aborted) {
    const started = performance.now();
    const error = await failureOf(reflector.follow());
    const sound = reflector.progressed() || performance.now() - started >= soundMs;
    failures = sound ? 0 : failures;
    if (error !== undefined || !sound) {
      await recover(error);
    }
  }
}

interface Reflector {
  /** Lists if necessary, then watches until the request ends. */
  readonly follow: () => Promise<void>;
  /** Whether the watch has received anything since the last call. */
  readonly progressed: () => boolean;
  /** Makes the next `follow` begin with a list. */
  readonly forgetPosition: () => void;
}

function createReflector({ resource, namespace, labelSelector }: View, options: ReflectOptions): Reflector {
  const { transport, signal, log, now, observe } = options;
  const kube = createKube({ transport, signal, log, now, fieldManager: 'kube-reflex.dev/source' });
  const known = new Map<string, string>();
  let position: string | undefined;
  let progress = false;

  async function list(): Promise<string> {
    const { items, resourceVersion } = await kube.pick(resource, { namespace, labelSelector }, (object) => {
      const key = keyOf(object);
      see(key, object, known.has(key) ? 'update' : 'add');
      return key;
    });
    const present = new Set(items);
    for (const key of known.keys()) {
      if (!present.has(key)) {
        miss(key, nameOnly(key));
      }
    }
    log.info({ objects: known.size }, 'watching');
    return resourceVersion;
  }

  async function follow(): Promise<void> {
    position ??= await list();
    const events = watch(resource, { transport, signal, namespace, labelSelector, resourceVersion: position });
    for await (const event of events) {
      take(event);
      progress = true;
    }
  }

  function take({ type, object }: WatchEvent): void {
    const key = keyOf(object);
    if (type === 'DELETED') {
      miss(key, object);
    } else if (type !== 'BOOKMARK') {
      see(key, object, changes[type]);
    }
    position = object.metadata?.resourceVersion ?? position;
  }

  function see(key: string, object: KubeObject, change: Change): void {
    const version = object.metadata?.resourceVersion ?? '';
    if (known.get(key) !== version) {
      known.set(key, version);
      observe({ key, change, object: complete(object) });
    }
  }

  function miss(key: string, object: KubeObject): void {
    if (known.delete(key)) {
      observe({ key, change: 'delete', object: complete(object) });
    }
  }

  /** Items of a list carry neither kind nor apiVersion. */
  function complete(object: KubeObject): KubeObject {
    return { apiVersion: apiVersion(resource), kind: resource.kind, ...object };
  }

  return {
    follow,
    progressed: () => {
      const since = progress;
      progress = false;
      return since;
    },
    forgetPosition: () => (position = undefined),
  };
}

function keyOf({ metadata: { namespace = '', name = '' } = {} }: KubeObject): string {
  return `${namespace}/${name}`;
}

function nameOnly(key: string): KubeObject {
  const slash = key.indexOf('/');
  const namespace = key.slice(0, slash);
  return { metadata: { name: key.slice(slash + 1), ...(namespace === '' ? {} : { namespace }) } };
}

function failureOf(work: Promise<void>): Promise<unknown> {
  return work.then(
    () => undefined,
    (reason: unknown) => reason ?? new Error('unknown'),
  );
}

/** The first break is normal and not logged; the second in a row is, and a lasting one is logged every ten minutes. */
function isWorthALine(failures: number): boolean {
  return failures % 20 === 2;
}

function isExpired(error: unknown): boolean {
  return error instanceof Refusal && error.code === 410;
}

function retryAfterMs(error: unknown): number {
  return error instanceof Failure ? (error.retryAfter ?? 0) * 1000 : 0;
}
