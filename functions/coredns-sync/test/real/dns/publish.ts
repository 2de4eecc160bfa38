import type { Claim } from '../../../claim.ts';
import { Config } from '../../../config.ts';
import type { DnsFacts } from '../../../integration/types.ts';
import { decide } from '../../../pass/decision.ts';
import { policyOf, type Policy } from '../../../policy.ts';
import { shardKey } from '../../../render/render.ts';
import { hostKey, type Rule } from '../../../rule.ts';
import { planShard } from '../../../shard/plan.ts';
import { readShard, shardOf } from '../../../shard/shard.ts';
import { parseState, type Layout } from '../../../state/state.ts';
import { parseConfig } from '../../../../../lib/function/config.ts';
import { key, versionOf } from './render.ts';
import { targets } from './world.ts';

/** The files of some hosts as the function publishes them with its default settings: in the mode and the shards it chooses. */
export function published(rules: readonly Rule[]): Readonly<Record<string, string>> {
  const classes = Object.keys(targets).map((target) => ({ ingressClass: target.split('.')[0], targetCNAME: target }));
  const policy = policyOf(parseConfig(Config, { INGRESS_CLASS_MAPPINGS: JSON.stringify(classes) }));
  const facts: DnsFacts = {
    ...{ mode: 'corefile', placement: { kind: 'own' }, version: versionOf('coredns'), redispatch: false },
    ...{ imported: true, volume: true, mount: true, shards: policy.config.MAX_SHARDS },
  };
  const claims = rules.map((rule, at) => claimOf(rule, at, policy));
  const layout = layoutOf(policy, facts, claims);
  const parts = Map.groupBy(claims, (claim) => shardOf(hostKey(claim), layout.shards));
  return Object.fromEntries(
    [...parts].map(([index, part]) => {
      const { content } = planShard(readShard(index, undefined, policy), part, { policy, known: { layout, facts } });
      return [shardKey(key, index), content.rules];
    }),
  );
}

function claimOf({ host, match, target }: Rule, at: number, { mappings }: Policy): Claim {
  const mapping = mappings.findIndex((each) => each.target === target);
  return { host, match, mapping, priority: 0, created: 1_750_000_000, source: `Ingress/team-${at % 50}/app-${at}` };
}

function layoutOf(policy: Policy, facts: DnsFacts, claims: readonly Claim[]): Layout {
  const wanted = claims.map((claim) => ({ source: claim.source, about: undefined, claims: [claim], refused: [] }));
  return decide({
    ...{ policy, facts, state: parseState(undefined), shards: [], records: new Map(), now: new Date(0) },
    listed: {
      ...{ wanted: wanted.map((each) => ({ ...each, record: undefined })), resourceVersion: '1' },
      ...{ unread: [], gone: [], illegible: [] },
    },
  }).layout;
}
