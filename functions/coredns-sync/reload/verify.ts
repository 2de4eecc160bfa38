import { isIP } from 'node:net';
import type { Context } from '../../../lib/function/definition.ts';
import { Refusal } from '../../../lib/kube/refusal.ts';
import { pods as podKind } from '../../../lib/kube/model/resource.ts';
import { inParallel } from '../../../lib/base/in-parallel.ts';
import type { Config } from '../config.ts';
import type { Dns } from '../integration/dns.ts';
import { metricsPort } from '../integration/metrics-port.ts';
import { findLastGood, keepLastGood, restoreLastGood } from './last-good.ts';
import { passMemory } from '../state/memory.ts';
import type { Policy } from '../policy.ts';
import { followReload, parseReload, rulesDigest, unheard, type Reload, type Reloads, type Rollback } from './reload.ts';
import { compareText } from '../../../lib/base/order.ts';
import { changedAt, filesIn, isNewer, type Shard } from '../shard/shard.ts';
import { readState, writeState, type ReadState } from '../state/state.ts';
import { readShards, upTo } from '../state/store.ts';

const patienceMs = 2_000;
const atOnce = 8;

/** With `VERIFY_RELOAD`: how did CoreDNS take the rules? Those it took are kept; when it refuses others, those come back. */
export async function verifyReload(context: Context<Config>, policy: Policy, dns: Dns): Promise<void> {
  if (!context.config.VERIFY_RELOAD) {
    return;
  }
  try {
    await lookAtReloads(context, policy, dns);
  } catch (error) {
    if (!(error instanceof Refusal) || error.code !== 403) {
      throw error;
    }
    const state = await readState(context); // rules that nobody may verify are still to be written
    await writeState(context, state, { reload: unheard(state.reload, error.message) });
  }
}

async function lookAtReloads(context: Context<Config>, policy: Policy, dns: Dns): Promise<void> {
  const pods = await readReloads(context, dns);
  const state = await readState(context);
  const shards = await readShards(context, policy, upTo(state.layout.shards));
  if ([...shards.values()].some((shard) => shard.owner === 'other' || isNewer(shard))) {
    return; // rules that are not ours to write are not ours to keep, nor to bring back
  }
  const at = context.kube.serverTime() ?? context.now();
  const rules = rulesDigest([...shards.values()].map(({ index, object }) => [index, filesIn(object, index, policy)]));
  const { verdict, watch } = followReload(state.reload, {
    rules,
    pods,
    at,
    changedAt: lastChange([...shards.values()]),
  });
  if (verdict === 'refused') {
    await rollBack(context, policy, { state, shards, watch });
    return;
  }
  if (verdict === 'good') {
    await keepLastGood(context, policy, [...shards.values()]);
  }
  await writeState(context, state, { reload: watch });
}

interface Refused {
  readonly state: ReadState;
  readonly shards: ReadonlyMap<number, Shard>;
  readonly watch: Rollback;
}

/** The intent comes first: where it is not carried out to the end, the next pass goes on with it. */
async function rollBack(context: Context<Config>, policy: Policy, { state, shards, watch }: Refused): Promise<void> {
  context.memory(passMemory).known = undefined;
  const { restoring, ...restored } = watch;
  const copies = await findLastGood(context, policy, shards);
  if (copies === undefined) {
    const { refused: _refused, ...unmoved } = restored;
    await writeState(context, state, { reload: { ...unmoved, failing: true } });
    return;
  }
  await writeState(context, state, { reload: watch });
  await restoreLastGood(context, policy, { copies, shards, since: restoring });
  const now = await readState(context);
  const layout = { shards: copies.size, buckets: now.layout.buckets };
  await writeState(context, now, { layout, reload: restored });
}

/** Undefined where somebody may have changed them without saying so. */
function lastChange(shards: readonly Shard[]): Date | undefined {
  const times = shards.map((shard) => (shard.claims === undefined ? NaN : (changedAt(shard)?.getTime() ?? NaN)));
  const newest = Math.max(...times);
  return Number.isNaN(newest) ? undefined : new Date(newest);
}

/** What every pod says that says anything. */
async function readReloads({ kube, config, signal }: Context<Config>, { objects }: Dns): Promise<Reloads> {
  const port = metricsPort(objects.corefile?.data?.['Corefile'] ?? '');
  const selection = { namespace: config.COREDNS_NAMESPACE, labelSelector: 'k8s-app=kube-dns' };
  const { items } = await kube.list(podKind, selection);
  const found: [string, Reload][] = [];
  await inParallel(atOnce, port === undefined ? [] : items, async ({ metadata, status }) => {
    const address = status?.podIP ?? '';
    const text = isIP(address) === 0 ? undefined : await metricsOf(`${host(address)}:${port ?? 0}`, signal);
    if (text !== undefined && metadata?.uid !== undefined) {
      found.push([metadata.uid, parseReload(text)]);
    }
  });
  return Object.fromEntries(found.sort(([left], [right]) => compareText(left, right)));
}

function host(address: string): string {
  return address.includes(':') ? `[${address}]` : address;
}

/** A pod that does not answer says nothing: it may be starting, or gone. */
async function metricsOf(authority: string, signal: AbortSignal): Promise<string | undefined> {
  try {
    const patience = AbortSignal.any([signal, AbortSignal.timeout(patienceMs)]);
    const answer = await fetch(`http://${authority}/metrics`, { signal: patience });
    return answer.ok ? await answer.text() : undefined;
  } catch {
    return undefined;
  }
}
