import type { Context } from '../../lib/function/define.ts';
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

/** Its budget begins when it was asked for. */
export async function openPass(context: Context<Config>, askedAt: number): Promise<Pass> {
  const { kube, log, metrics } = context;
  const config = await effectiveConfig(context);
  const store = await openStore(context);
  const endsAt = askedAt + config.MAX_INVOCATION;
  const counts: string[] = [];
  const seconds = metrics.seconds('probe_seconds', 'Time that injectors take to answer.');
  const prober = createProber(context, {
    config,
    isOver: () => now() >= endsAt,
    onProbe: (result, took) => {
      counts.push(`probes_total{${result}}`);
      seconds.observe(took);
    },
  });
  let known: Promise<Knowledge> | undefined;

  function now(): number {
    return context.now().getTime();
  }

  function scanner(): Scanner {
    return { kube, config, prober, now: context.now() };
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
    survey: createSurveyor(context, config),
    now,
    isOver: () => now() >= endsAt || context.signal.aborted,
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
