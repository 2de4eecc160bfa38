import type { Context } from '../../lib/function/definition.ts';
import { sharedNow } from './clock.ts';
import type { Config } from './config.ts';
import { eventOf, type Notice } from './notice.ts';
import { effectiveConfig } from './overrides.ts';
import { createProber, type Prober } from './probe/prober.ts';
import { createSurveyor, type Surveyor } from './restart/surroundings.ts';
import type { Knowledge } from './scan/judge.ts';
import { learn, type Scan, type Scanner } from './scan/scan.ts';
import { openStore, type Store } from './state/store.ts';

/** One look at the cluster, with what lives as long as it: connections, answers of injectors, a budget of time. */
export interface Pass {
  readonly id: string;
  readonly context: Context<Config>;
  readonly config: Config;
  readonly store: Store;
  readonly prober: Prober;
  readonly survey: Surveyor;
  /** The time that all instances share. */
  readonly now: () => number;
  readonly isOver: () => boolean;
  readonly scanner: () => Scanner;
  /** The mesh as of this pass, read once. */
  readonly knowledge: () => Promise<Knowledge>;
  readonly learned: (scan: Scan) => void;
  /** Writes Events; a dry run keeps silent. */
  readonly tell: (notices: readonly Notice[]) => Promise<void>;
  /** What was counted since the last time, to go into the state with the next write. */
  readonly takeCounts: () => readonly string[];
  readonly close: () => void;
}

/** Its budget begins when it was asked for, and is a matter of this machine's clock alone. */
export async function openPass(context: Context<Config>, askedAt: number): Promise<Pass> {
  const { kube, log, metrics } = context;
  const config = await effectiveConfig(context);
  const store = await openStore(context);
  const endsAt = askedAt + config.MAX_INVOCATION;
  const counts: string[] = [];
  const seconds = metrics.seconds('probe_seconds', 'Time that injectors take to answer.');
  const prober = createProber(context, {
    config,
    isOver: isSpent,
    onProbe: (result, took) => {
      counts.push(`probes_total{${result}}`);
      seconds.observe(took);
    },
  });
  let known: Promise<Knowledge> | undefined;

  function now(): number {
    return sharedNow(context);
  }

  function isSpent(): boolean {
    return context.now().getTime() >= endsAt;
  }

  function scanner(): Scanner {
    return { kube, config, prober, now: new Date(now()) };
  }

  async function tell(notices: readonly Notice[]): Promise<void> {
    if (!config.EVENTS_ENABLED || config.DRY_RUN) {
      return;
    }
    for (const notice of notices) {
      await kube
        .run({ steps: [eventOf(notice)] })
        .catch((error: unknown) => log.warn({ err: error, reason: notice.reason }, 'event not written'));
    }
  }

  return {
    id: crypto.randomUUID().slice(0, 8),
    context,
    config,
    store,
    prober,
    survey: createSurveyor({ ...context, now }, config),
    now,
    isOver: () => isSpent() || context.signal.aborted,
    scanner,
    knowledge: () => (known ??= learn(scanner(), store.state())),
    learned: ({ knowledge }) => {
      known = Promise.resolve(knowledge);
    },
    tell,
    takeCounts: () => counts.splice(0),
    close: () => prober.close(),
  };
}
