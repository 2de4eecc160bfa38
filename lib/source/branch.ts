import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import type { Cron } from '../time/cron.ts';
import { parseTicks } from './cron.ts';
import { createLane, type Lane, type LaneOptions, type Pacing, type Report } from './deliver.ts';
import { bareObject, changeEvent, tickEvent, type Origin, type Stamp } from './event.ts';
import type { Observation, View } from './reflect.ts';
import { createSink } from './sink.ts';
import { keepTicking } from './tick.ts';
import { interestsOf, type Interest, type SourceWatch } from './view.ts';

/** The watches and the schedule of one function, and where its events go. */
export interface Subscription {
  /** The function. Its ticks carry the name of the PingSource in the manifests: `<name>-tick`. */
  readonly name: string;
  readonly sink: URL;
  readonly watches: readonly SourceWatch[];
  /** Five-field cron schedule, in UTC. */
  readonly tick?: string | undefined;
}

/** A subscription as stored in a file. */
export type WrittenSubscription = Omit<Subscription, 'sink'> & { readonly sink: string };

export interface Sent {
  readonly function: string;
  /** The type of the CloudEvent. */
  readonly type: string;
  readonly tries: number;
}

export interface Failed {
  readonly function: string;
  readonly type: string;
  readonly why: string;
  /** Refused for good; otherwise it is kept and retried. */
  readonly lost: boolean;
}

/** What the branches of one source share. */
export interface Trunk {
  readonly origin: Origin;
  readonly log: Logger;
  readonly now: () => Date;
  readonly pacing: Pacing;
  readonly stop: AbortSignal;
  readonly abort: AbortSignal;
  readonly onSent?: ((sent: Sent) => void) | undefined;
  readonly onFailed?: ((failed: Failed) => void) | undefined;
}

/** The deliveries to one function. */
export interface Branch {
  readonly outlets: readonly Outlet[];
  readonly waiting: () => number;
  /** Resolves when nothing more is sent. */
  readonly ended: Promise<unknown>;
}

/** Receives the observations of one view. */
export interface Outlet {
  readonly view: View;
  readonly accept: (observation: Observation) => void;
}

/** A subscription with its parsed schedule and watches, before anything is started. */
export interface Wish {
  readonly name: string;
  readonly sink: URL;
  readonly interests: readonly Interest[];
  readonly cron?: Cron;
}

/** Throws if the schedule is wrong. */
export function wishOf({ name, sink, watches, tick }: Subscription, ownNamespace: string): Wish {
  return {
    name,
    sink,
    interests: interestsOf(watches, ownNamespace),
    ...(tick === undefined ? {} : { cron: parseTicks(tick) }),
  };
}

export function grow({ name, sink: url, interests, cron }: Wish, trunk: Trunk): Branch {
  const sink = createSink(url);
  const common = { sink, report: reportOf(name, url, trunk), stop: trunk.stop, abort: trunk.abort };
  const changes = interests.map((interest) => ({ interest, lane: changeLane(interest, trunk, common) }));
  const ticks = cron === undefined ? undefined : tickLane(name, trunk, common);
  const lanes = [...changes.map(({ lane }) => lane), ...(ticks === undefined ? [] : [ticks])];
  const ticking =
    cron === undefined ? undefined : keepTicking({ ...trunk, ...trunk.pacing, cron, signal: trunk.stop, tick });

  function tick(): void {
    ticks?.push('tick');
  }

  return {
    outlets: changes.map(({ interest, lane }) => outlet(interest, lane)),
    waiting: () => lanes.reduce((sum, lane) => sum + lane.waiting(), 0),
    ended: Promise.all([ticking, ...lanes.map(({ ended }) => ended)]).finally(() => sink.close()),
  };
}

type Common = Pick<LaneOptions<never>, 'sink' | 'report' | 'stop' | 'abort'>;

function changeLane({ mode }: Interest, { origin, now, pacing }: Trunk, common: Common): Lane<Observation> {
  return createLane<Observation>({
    ...common,
    pacing,
    keyOf: ({ key }) => key,
    // If the `add` of an object is still waiting, the sink does not know the object yet.
    merge: (older, newer) =>
      older.change === 'add' && newer.change === 'update' ? { ...newer, change: 'add' } : newer,
    messageOf: (observation) => changeEvent(observation, mode, origin, stamp(now)),
  });
}

/** Ticks that wait for a slow function are merged into one. */
function tickLane(name: string, { origin, now, pacing }: Trunk, common: Common): Lane<'tick'> {
  return createLane<'tick'>({
    ...common,
    pacing: { ...pacing, crowd: 1 },
    keyOf: (tick) => tick,
    merge: (_older, newer) => newer,
    messageOf: () => tickEvent(`${name}-tick`, origin.namespace, stamp(now)),
  });
}

function outlet({ view, mode, names }: Interest, lane: Lane<Observation>): Outlet {
  return {
    view,
    accept: ({ key, change, object }) => {
      if (names === undefined || names.has(object.metadata?.name ?? '')) {
        lane.push({ key, change, object: mode === 'Reference' ? bareObject(object) : object });
      }
    },
  };
}

function stamp(now: () => Date): Stamp {
  return { id: randomUUID(), time: now() };
}

/** Counts every event; logs lost events, and the beginning and the end of an outage. */
function reportOf(name: string, sink: URL, { log, onSent, onFailed }: Trunk): Report {
  const lines = log.child({ to: name, sink: sink.href });
  return {
    sent: ({ headers }, tries) => onSent?.({ function: name, type: headers['ce-type'] ?? '', tries }),
    lost: ({ headers }, why) => {
      const type = headers['ce-type'] ?? '';
      lines.error({ type, subject: headers['ce-subject'], why }, 'event refused for good');
      onFailed?.({ function: name, type, why, lost: true });
    },
    kept: ({ headers }, why, isFirst) => {
      const type = headers['ce-type'] ?? '';
      lines[isFirst ? 'warn' : 'debug']({ type, subject: headers['ce-subject'], why }, 'event kept for a retry');
      onFailed?.({ function: name, type, why, lost: false });
    },
    recovered: (waiting) => lines.info({ waiting }, 'the sink accepts events again'),
  };
}
