import type { Context } from '../../../lib/function/definition.ts';
import type { Wake } from '../../../lib/function/triggers.ts';
import { asFailure } from '../../../lib/base/failure.ts';
import { cleanUp } from '../integration/cleanup.ts';
import { refreshSummary } from './conclude.ts';
import type { Config } from '../config.ts';
import { converge } from './converge.ts';
import { digestOf, observeDns } from '../integration/dns.ts';
import { integrate } from '../integration/integrate.ts';
import type { DnsFacts } from '../integration/types.ts';
import { countNoop, countPass } from '../metrics.ts';
import { planIntegration } from '../integration/plan.ts';
import { integrationOptions, policyOf, type Policy } from '../policy.ts';
import { reportPreview } from './preview.ts';
import { startingOver } from './retry.ts';
import { obstructed, readState } from '../state/state.ts';
import { readShards, upTo } from '../state/store.ts';
import { verifyReload } from '../reload/verify.ts';

/** Looks at everything: all sources, all rules, and how CoreDNS reads them. */
export async function lookAtEverything(context: Context<Config>): Promise<void> {
  try {
    await startingOver(context, () => fullPass(context, policyOf(context.config)));
    countPass(context, 'full', 'ok');
  } catch (error) {
    countPass(context, 'full', asFailure(error).kind);
    throw error;
  }
}

/** The rules first, then CoreDNS. Where that lets rules be written in another way, they are written once more. */
export async function fullPass(context: Context<Config>, policy: Policy): Promise<void> {
  const state = await readState(context);
  if (state.cleaning) {
    await cleanUp(context, policy);
    return;
  }
  const dns = await observeDns(context, state.facts);
  await verifyReload(context, policy, dns);
  const first = await converge(context, policy, dns);
  const found = await integrate(context, policy, { dns, hosts: first.hosts });
  if (context.config.RENDER_ONLY) {
    await reportPreview(context, first.hosts);
  }
  const again = decisive(found) !== decisive(first.facts);
  const last = again ? await converge(context, policy, await observeDns(context, found)) : first;
  if (last.news !== undefined) {
    refreshSummary(context, last.news); // last, or it would compete with what the pass itself writes into the state
  }
  if (last.failure !== undefined) {
    throw last.failure;
  }
}

/** The facts that decide how rules are rendered and spread. */
function decisive({ version, redispatch, shards, volume, mount, placement, ...facts }: DnsFacts): string {
  const { occupied, addresses, blocks } = facts;
  return JSON.stringify([version, redispatch, shards, volume, mount, placement, occupied, addresses, blocks]);
}

/**
 * The Corefile or the Deployment changed: what CoreDNS reads is checked, the sources are not. Where nothing changed that
 * matters, the rules need not be read either.
 */
export async function checkDns(context: Context<Config>, _wake: Wake): Promise<void> {
  await startingOver(context, async () => {
    const policy = policyOf(context.config);
    const state = await readState(context);
    if (state.cleaning || !state.known || obstructed(state.conditions)) {
      await fullPass(context, policy);
      return;
    }
    const dns = await observeDns(context, state.facts);
    if (state.seen === digestOf(dns, policy)) {
      countNoop(context);
      return;
    }
    const shards = [...(await readShards(context, policy, upTo(state.layout.shards))).values()];
    if (shards.some(({ claims }) => claims === undefined)) {
      await fullPass(context, policy);
      return;
    }
    const hosts = shards.flatMap(({ claims = [] }) => claims);
    const { facts } = planIntegration(dns.objects, integrationOptions(policy), hosts);
    if (state.facts === undefined || decisive(facts) !== decisive(state.facts)) {
      await fullPass(context, policy); // which is repeated when it fails, since until then nobody knows these facts
      return;
    }
    await integrate(context, policy, { dns, hosts });
  });
}
