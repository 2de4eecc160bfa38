import type { Context } from '../../../lib/function/definition.ts';
import { Failure } from '../../../lib/base/failure.ts';
import type { ConfigMap } from '../../../lib/kube/model/resource.ts';
import { annotated } from '../state/annotation.ts';
import type { Config } from '../config.ts';
import { observeDns } from './dns.ts';
import { isRolledOut } from './mount.ts';
import { planRemoval, type Removal } from './removal.ts';
import { readLastGood } from '../reload/last-good.ts';
import { passMemory } from '../state/memory.ts';
import { writeConfigMap } from '../../../lib/kube/model/config-map.ts';
import { integrationOptions, policyOf, type Policy } from '../policy.ts';
import { mostShards } from '../settings/writing.ts';
import { reachOf, readState, stateName, writeState } from '../state/state.ts';
import { readBuckets, readShards, upTo } from '../state/store.ts';
import { drop } from '../state/sweep.ts';

/** What became of one thing that had to go. */
export interface Step {
  readonly what: string;
  readonly result: 'done' | 'absent' | 'failed' | 'waiting';
  readonly message?: string;
}

/** How long until CoreDNS's rollout is looked at again. */
const rolloutPauseMs = 5_000;

/**
 * Takes back everything: imports, mount and volume, then the rules, which CoreDNS must no longer need by then. The request stays
 * on the state ConfigMap and keeps every instance from configuring anything; it is also what a repetition starts from.
 */
export async function cleanUp(context: Context<Config>, policy: Policy): Promise<void> {
  const steps = await takeBack(context, policy);
  await writeState(context, await readState(context), { cleanup: steps });
  const failed = steps.find(({ result }) => result === 'failed');
  if (failed !== undefined) {
    throw new Failure('unavailable', `clean up ${failed.what}: ${failed.message ?? 'failed'}`, { retryAfter: 30 });
  }
  if (!steps.every(isOver)) {
    const at = new Date(context.now().getTime() + rolloutPauseMs);
    context.later('cleanup', at, (later) => goOn(later, policy));
  }
}

/** Who has withdrawn the request meanwhile wants to keep what is there now. */
async function goOn(context: Context<Config>, policy: Policy): Promise<void> {
  if ((await readState(context)).cleaning) {
    await cleanUp(context, policy);
  }
}

/** Who leaves the cluster makes the request by himself, and waits for the outcome. */
export async function release(context: Context<Config>): Promise<readonly string[]> {
  await request(context);
  const steps = await takeBack(context, policyOf(context.config));
  return steps.filter((step) => !isOver(step)).map(({ what, result, message = result }) => `${what}: ${message}`);
}

/** Without a state nobody has configured anything since it went. */
async function request({ kube, namespace, config }: Context<Config>): Promise<void> {
  const { object, cleaning } = await readState({ kube, namespace, config });
  if (object !== undefined && !cleaning) {
    const annotations = annotated({ cleanup: 'requested' });
    const content = { namespace, name: stateName(config), data: {}, labels: {}, annotations };
    const step = writeConfigMap(object, content, 'leaving');
    await kube.run({ steps: step === undefined ? [] : [step] });
  }
}

async function takeBack(context: Context<Config>, policy: Policy): Promise<readonly Step[]> {
  context.memory(passMemory).known = undefined;
  const dns = await removeFromDns(context, policy);
  return dns.every(isOver) ? [...dns, ...(await removeConfigMaps(context, policy))] : dns;
}

function isOver({ result }: Step): boolean {
  return result === 'done' || result === 'absent';
}

async function removeFromDns(context: Context<Config>, policy: Policy): Promise<readonly Step[]> {
  if (context.config.RENDER_ONLY) {
    return []; // CoreDNS never saw a preview
  }
  const options = integrationOptions(policy);
  const { objects, forbidden } = await observeDns(context);
  const steps: Step[] = forbidden.map((what) => ({ what, result: 'failed', message: 'may not be read' }));
  for (const removal of planRemoval(objects, options)) {
    steps.push(await remove(context, removal));
  }
  const rolling = objects.deployment !== undefined && !isRolledOut(objects.deployment);
  const unmounted = steps.some(({ what, result }) => what === 'mount' && result === 'done');
  return [...steps, { what: 'rollout', result: rolling || unmounted ? 'waiting' : 'absent' }];
}

/** A part that is in the way of nothing is tried all the same: the report should name all that failed. */
async function remove({ kube }: Context<Config>, { what, step, problem }: Removal): Promise<Step> {
  if (problem !== undefined) {
    return { what, result: 'failed', message: problem };
  }
  if (step === undefined) {
    return { what, result: 'absent' };
  }
  try {
    await kube.run({ steps: [step] });
    return { what, result: 'done' };
  } catch (error) {
    if (error instanceof Failure && error.kind !== 'conflict') {
      return { what, result: 'failed', message: error.message };
    }
    throw error;
  }
}

/** Every ConfigMap that we may have written, however many there are now. */
async function removeConfigMaps(context: Context<Config>, policy: Policy): Promise<readonly Step[]> {
  const { config } = context;
  const reach = reachOf(await readState(context));
  const shards = await readShards(context, policy, upTo(Math.max(reach.shards, config.MAX_SHARDS)));
  const rules = [...shards.values()].filter(({ owner }) => owner === 'ours');
  const buckets = await readBuckets(context, upTo(reach.buckets));
  const copies = config.VERIFY_RELOAD
    ? await readLastGood(context, policy, mostShards) // of a larger MAX_SHARDS before, too
    : new Map<number, ConfigMap>();
  const found = [...copies.values(), ...[...rules, ...buckets.values()].map(({ object }) => object)];
  const present = found.filter((object): object is ConfigMap => object !== undefined);
  await drop(context, present);
  return [{ what: 'ConfigMaps', result: present.length === 0 ? 'absent' : 'done' }];
}
