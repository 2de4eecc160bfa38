import type { Context } from '../../../lib/function/definition.ts';
import type { Config } from '../config.ts';
import { hostsIn } from './decision.ts';
import { policyOf } from '../policy.ts';
import { compareText } from '../../../lib/base/order.ts';
import { hostKey, type Host } from '../rule.ts';
import { readState, writeState, type Preview } from '../state/state.ts';
import { readShards, upTo } from '../state/store.ts';

/** So many hosts are named; all are counted. */
const shown = 20;

/** With RENDER_ONLY: what would change for CoreDNS if the preview were the rules. */
export async function reportPreview(context: Context<Config>, hosts: readonly Host[]): Promise<void> {
  const live = policyOf({ ...context.config, RENDER_ONLY: false });
  const shards = await readShards(context, live, upTo(context.config.MAX_SHARDS));
  const served = new Set([...shards.values()].flatMap((shard) => hostsIn(shard, live)));
  const wanted = new Set(hosts.map(hostKey));
  const preview: Preview = {
    adds: named(wanted.difference(served)),
    removes: named(served.difference(wanted)),
  };
  await writeState(context, await readState(context), { preview });
}

function named(hosts: ReadonlySet<string>): Preview['adds'] {
  return { count: hosts.size, hosts: [...hosts].sort(compareText).slice(0, shown) };
}
