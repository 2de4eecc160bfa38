import type { Context, Reply, RouteRequest } from '../../lib/function/definition.ts';
import { ranked } from './claim.ts';
import type { Config } from './config.ts';
import { policyOf } from './policy.ts';
import { compareText } from '../../lib/base/order.ts';
import { hostText } from './rule.ts';
import { readState } from './state/state.ts';
import { readShards, upTo } from './state/store.ts';

const mostHosts = 1000;

/** `GET /status[?host=…]`: what is served now, by whom, and what stands in the way. */
export async function showStatus({ query }: RouteRequest, context: Context<Config>): Promise<Reply> {
  const policy = policyOf(context.config);
  const state = await readState(context);
  const shards = await readShards(context, policy, upTo(state.layout.shards));
  const claims = [...shards.values()].flatMap((shard) => shard.claims ?? []);
  const wanted = query.get('host');
  const hosts = [...ranked(claims).values()]
    .flatMap(([winner, ...losers]) =>
      winner === undefined
        ? []
        : [
            {
              host: hostText(winner),
              target: policy.mappings[winner.mapping]?.target,
              winner: winner.source,
              losers: losers.map(({ source }) => source),
            },
          ],
    )
    .filter(({ host }) => wanted === null || host === wanted)
    .sort((left, right) => compareText(left.host, right.host));
  const { conditions, facts, layout, preview, cleanup } = state;
  return {
    body: {
      conditions,
      total: hosts.length,
      hosts: hosts.slice(0, mostHosts),
      layout,
      coredns: facts ?? null,
      preview: preview ?? null,
      cleanup: cleanup ?? null,
    },
  };
}
