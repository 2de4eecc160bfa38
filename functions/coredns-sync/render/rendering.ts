import type { DnsFacts } from '../integration/types.ts';
import { integrationOptions, type Policy } from '../policy.ts';
import { chooseMode, isSpreadable, passesOtherTypes, type ModeChoice } from './mode.ts';
import type { Rendering } from './render.ts';
import { hostKey, type Host } from '../rule.ts';

/** The rules of one shard, as far as they decide how it is rendered. */
interface Part {
  readonly shards: number;
  readonly hosts: readonly Host[];
}

/** How rules are written, from what every instance knows: equal claims must give equal bytes everywhere. */
export function renderingFor(policy: Policy, facts: DnsFacts | undefined, part: Part): Rendering {
  const { mode } = modeFor(policy, facts, part);
  const directory = integrationOptions(policy).mountPath;
  switch (mode) {
    case 'hosts':
      return {
        ...{ mode, directory, addresses: facts?.addresses ?? {} },
        passesOtherTypes: passesOtherTypes(facts?.version),
      };
    case 'zone':
      return { mode, directory };
    case 'zoneblocks':
      return facts?.blocks === undefined ? { mode: 'template' } : { mode, frame: facts.blocks.frame };
    case 'exact':
    case 'grouped':
    case 'template':
      return { mode };
  }
}

export function modeFor({ config }: Policy, facts: DnsFacts | undefined, { shards, hosts }: Part): ModeChoice {
  const spread = shards > 1; // then there are many, wherever the wildcards are
  const { version, redispatch, mount, placement, occupied = [], addresses = {}, blocks } = facts ?? unseen;
  return chooseMode({
    setting: config.RENDER_MODE,
    hosts: spread ? Infinity : new Set(hosts.map(hostKey)).size,
    wildcards: spread || hosts.some(({ match }) => match !== 'exact'),
    exactMaxHosts: config.EXACT_MAX_HOSTS,
    ...{ version, redispatch, shards, occupied },
    mounted: mount && placement.kind === 'own',
    addressed: Object.values(addresses).some((found) => found.length > 0),
    blocks: blocks?.settled === true,
  });
}

/** A CoreDNS that nobody has looked at. */
const unseen: DnsFacts = {
  mode: 'none',
  placement: { kind: 'own' },
  redispatch: false,
  imported: false,
  volume: false,
  mount: false,
  shards: 1,
};

/** More than one ConfigMap of rules needs a volume that shows them all, and a mode that has no use for a single file. */
export function maySpread(policy: Policy, facts: DnsFacts | undefined): boolean {
  const { mode } = modeFor(policy, facts, { shards: 1, hosts: [] });
  return isSpreadable(mode) && (facts === undefined || facts.placement.kind === 'own');
}
