import { isIP } from 'node:net';
import { imports, importsSome } from '../corefile/import.ts';
import { hasInline } from '../corefile/inline.ts';
import type { ServerBlock } from '../corefile/parse.ts';
import { importsBlocks, observeBlocks } from './blocks.ts';
import { ownImport, type Reading } from './corefile.ts';
import { corednsVersion, customConfigMap, customDirectory, customKey } from './detect.ts';
import { hasFormerPods, type Mount } from './mount.ts';
import type { DnsFacts, DnsObjects, IntegrationOptions, Placement } from './types.ts';

/** What the live Corefile and Deployment say. */
export function factsOf(
  reading: Reading,
  mount: Mount | undefined,
  observed: DnsObjects,
  options: IntegrationOptions,
): DnsFacts {
  const blocks = reading.configuration.blocks.filter(reading.wanted);
  const byImport = importsRules(blocks, reading, options);
  const served = byImport && mount?.mount === true;
  const placement = placementOf(blocks, observed, options, served);
  const ownBlocks = observeBlocks(reading, observed, options);
  const having = reading.configuration.blocks.filter(
    (block) => reading.wanted(block) || hasRules(block, placement, observed, options),
  );
  const occupied = reading.unseen ? contested : occupiedIn(having);
  return {
    ...blindFacts(observed, mount, options),
    ...(occupied.length === 0 ? {} : { occupied }),
    ...(ownBlocks === undefined ? {} : { blocks: ownBlocks }),
    mode: modeOf(placement, options),
    placement,
    redispatch: reading.redispatch || having.some((block) => !reading.isAble(block)),
    ...(reading.idle.length === 0 ? {} : { idle: reading.idle }),
    imported:
      placement.kind === 'own' ? byImport : blocks.length > 0 && isPlaced(placement, reading, observed, options),
  };
}

/**
 * Does the block have our rules, be it that its last host is gone or that somebody imported them everywhere? Imports stay, so
 * rules must suit it before its next host comes. Rules inside the Corefile are put into the wanted blocks anew each time.
 */
function hasRules(
  block: ServerBlock,
  placement: Placement,
  { deployment }: DnsObjects,
  options: IntegrationOptions,
): boolean {
  const directory = customDirectory(deployment);
  const byCustom =
    placement.kind === 'custom' && directory !== undefined && customKey(block, directory) === placement.key;
  return byCustom || importsSome(block, ownImport(options));
}

function importsRules(blocks: readonly ServerBlock[], reading: Reading, options: IntegrationOptions): boolean {
  const own = ownImport(options);
  return (
    blocks.length > 0 &&
    blocks.every((block) => imports(block, own)) &&
    (options.renderMode !== 'zoneblocks' || importsBlocks(reading, options))
  );
}

/** Are there rules of ours? Where we may write them into `coredns-custom`, every pass does. */
function isPlaced(
  placement: Exclude<Placement, { kind: 'own' }>,
  { text }: Reading,
  { custom, customHidden }: DnsObjects,
  { configure }: IntegrationOptions,
): boolean {
  return placement.kind === 'inline'
    ? hasInline(text)
    : configure || customHidden === true || custom?.data?.[placement.key] !== undefined;
}

/** What can be said without a Corefile. */
export function blindFacts(observed: DnsObjects, mount: Mount | undefined, options: IntegrationOptions): DnsFacts {
  const { mode } = options;
  const version = corednsVersion(observed.deployment);
  return {
    mode: mode === 'auto' ? 'none' : mode,
    placement: { kind: 'own' },
    ...(version === undefined ? {} : { version }),
    redispatch: false,
    imported: false,
    volume: mount?.volume ?? false,
    mount: mount?.mount ?? false,
    shards: shownShards(observed, mount),
    ...(options.renderMode === 'hosts' ? { addresses: addressesOf(observed, options) } : {}),
  };
}

/** Pods that still run with an earlier template show no more than that one did: nothing may move to where they do not look. */
function shownShards({ deployment, last }: DnsObjects, mount: Mount | undefined): number {
  const shown = Math.max(1, mount?.shards ?? 1);
  const rolling = deployment !== undefined && hasFormerPods(deployment);
  return rolling && last !== undefined ? Math.min(shown, last.shards) : shown;
}

/** Headless Services and names that are no Services have none. */
function addressesOf({ targets, last }: DnsObjects, options: IntegrationOptions): NonNullable<DnsFacts['addresses']> {
  return Object.fromEntries(
    options.targets.map((target) => {
      const service = targets?.get(target);
      const { clusterIPs, clusterIP = '' } = typeof service === 'object' ? (service.spec ?? {}) : {};
      const found = (clusterIPs ?? [clusterIP]).filter((address) => isIP(address) !== 0);
      return [target, typeof service === 'object' ? found : (last?.addresses?.[target] ?? [])];
    }),
  );
}

/** Plugins of which ours would collide with those of others. */
const contested: readonly string[] = ['file', 'hosts'];

function occupiedIn(blocks: readonly ServerBlock[]): readonly string[] {
  return contested.filter((plugin) =>
    blocks.some(({ directives }) => directives.some(({ name }) => name.text === plugin)),
  );
}

/** A managed cluster's own way to add rules comes first: there, edits of Corefile and Deployment are undone. */
function placementOf(
  blocks: readonly ServerBlock[],
  { deployment }: DnsObjects,
  { mode, configure }: IntegrationOptions,
  served: boolean,
): Placement {
  const directory = customDirectory(deployment);
  if (mode === 'inline') {
    return { kind: 'inline' };
  }
  if (mode === 'auto' && !configure && served) {
    return { kind: 'own' }; // somebody else saw to it
  }
  const keys = new Set(directory === undefined ? [] : blocks.map((block) => customKey(block, directory)));
  const [key] = keys;
  const everywhere = keys.size === 1 && key !== undefined;
  return (mode === 'auto' || mode === 'custom-configmap') && everywhere
    ? { kind: 'custom', configMap: customConfigMap, key }
    : { kind: 'own' };
}

function modeOf({ kind }: Placement, { mode }: IntegrationOptions): DnsFacts['mode'] {
  if (mode !== 'auto') {
    return mode;
  }
  return kind === 'custom' ? 'custom-configmap' : 'corefile';
}
