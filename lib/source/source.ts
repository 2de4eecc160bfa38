import type { Logger } from 'pino';
import type { Transport } from '../kube/transport.ts';
import { grow, wishOf, type Failed, type Outlet, type Sent, type Subscription, type Trunk } from './branch.ts';
import type { Pacing } from './deliver.ts';
import { pause } from '../base/pause.ts';
import type { Growth } from '../base/doubling.ts';
import { reflect, type View } from './reflect.ts';
import { identityOf } from './view.ts';

export interface SourceOptions {
  readonly transport: Transport;
  readonly subscriptions: readonly Subscription[];
  /** The namespace of the source: resolves the scope `own`, and names the sender of events. */
  readonly namespace: string;
  readonly log: Logger;
  readonly now?: () => Date;
  readonly pacing?: Partial<SourcePacing>;
  readonly onSent?: (sent: Sent) => void;
  readonly onFailed?: (failed: Failed) => void;
}

export interface SourcePacing extends Pacing {
  /** Pauses before a failed watch is retried. */
  readonly reconnect: Growth;
  /** How long an active send may take when the source closes. */
  readonly graceMs: number;
}

export interface Source {
  /** The number of waiting events, without active sends. */
  readonly waiting: () => number;
  readonly close: () => Promise<void>;
}

const usualPacing: SourcePacing = {
  retriesMs: [100, 200, 400, 800, 1600],
  rest: { firstMs: 1_000, longestMs: 15_000 },
  crowd: 1_000,
  reconnect: { firstMs: 500, longestMs: 30_000 },
  graceMs: 5_000,
  pause,
};

/**
 * Watches what the functions declare, and posts CloudEvents as ApiServerSource and PingSource do.
 *
 * | situation                          | Knative's sources      | this source                         |
 * | ---------------------------------- | ---------------------- | ----------------------------------- |
 * | objects that exist at the start    | not sent               | sent                                |
 * | changes during a broken watch      | partly lost            | found by the next list, and sent    |
 * | a sink that does not accept events | lost after the retries | kept and retried (see `createLane`) |
 * | ticks                              | by the schedule        | at once, then by the schedule       |
 *
 * Equal watches of several functions share one connection. Each function has its own lane per watch, so a slow function
 * does not delay others. Rejects if a schedule is wrong or the cluster cannot be found.
 */
export async function startSource(options: SourceOptions): Promise<Source> {
  const { transport, subscriptions, namespace, now = () => new Date() } = options;
  const pacing = { ...usualPacing, ...options.pacing };
  const wishes = subscriptions.map((subscription) => wishOf(subscription, namespace));
  const origin = { server: await transport.server(), namespace };
  const stopping = new AbortController();
  const aborting = new AbortController();
  const trunk: Trunk = { ...options, origin, now, pacing, stop: stopping.signal, abort: aborting.signal };

  const branches = wishes.map((wish) => grow(wish, trunk));
  const reflectors = shared(branches.flatMap(({ outlets }) => outlets)).map(({ view, outlets }) =>
    reflect(view, {
      transport,
      now,
      signal: trunk.stop,
      log: options.log.child({ watch: identityOf(view) }),
      pause: pacing.pause,
      backoff: pacing.reconnect,
      observe: (observation) => {
        for (const { accept } of outlets) {
          accept(observation);
        }
      },
    }),
  );

  return {
    waiting: () => branches.reduce((sum, branch) => sum + branch.waiting(), 0),
    close: async () => {
      stopping.abort();
      const grace = setTimeout(() => aborting.abort(), pacing.graceMs);
      await Promise.all([...reflectors, ...branches.map(({ ended }) => ended)]);
      clearTimeout(grace);
    },
  };
}

/** Groups outlets with equal views, so that one watch serves them all. */
function shared(outlets: readonly Outlet[]): { readonly view: View; readonly outlets: readonly Outlet[] }[] {
  return [...Map.groupBy(outlets, ({ view }) => identityOf(view)).values()].flatMap((group) =>
    group.slice(0, 1).map(({ view }) => ({ view, outlets: group })),
  );
}
