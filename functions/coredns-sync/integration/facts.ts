import { imports } from '../corefile/import.ts';
import { hasInline } from '../corefile/inline.ts';
import type { ServerBlock } from '../corefile/parse.ts';
import { ownImport, type Reading } from './corefile.ts';
import { corednsVersion, customConfigMap, customDirectory, customKey } from './detect.ts';
import type { Mount } from './mount.ts';
import type { DnsFacts, DnsObjects, IntegrationOptions, Placement } from './types.ts';

/** What the live Corefile and Deployment say. */
export function factsOf(
  reading: Reading,
  mount: Mount | undefined,
  observed: DnsObjects,
  options: IntegrationOptions,
): DnsFacts {
  const { configuration, wanted } = reading;
  const blocks = configuration.blocks.filter(wanted);
  const own = ownImport(options);
  const placement = placementOf(blocks, observed, options);
  const mode = modeOf(placement, options);
  return {
    ...blindFacts(observed, mount, options),
    mode,
    placement,
    redispatch: reading.redispatch,
    imported:
      blocks.length > 0 &&
      (mode === 'inline'
        ? hasInline(reading.text)
        : mode !== 'corefile' || blocks.every((block) => imports(block, own))),
  };
}

/** What can be said without a Corefile. */
export function blindFacts(observed: DnsObjects, mount: Mount | undefined, { mode }: IntegrationOptions): DnsFacts {
  const version = corednsVersion(observed.deployment);
  return {
    mode: mode === 'auto' ? 'none' : mode,
    placement: { kind: 'own' },
    ...(version === undefined ? {} : { version }),
    redispatch: false,
    imported: false,
    volume: mount?.volume ?? false,
    mount: mount?.mount ?? false,
    shards: Math.max(1, mount?.shards ?? 1),
  };
}

/** A managed cluster's own way to add rules comes first: there, edits of Corefile and Deployment are undone. */
function placementOf(
  blocks: readonly ServerBlock[],
  { deployment }: DnsObjects,
  { mode }: IntegrationOptions,
): Placement {
  const directory = customDirectory(deployment);
  if (mode === 'inline') {
    return { kind: 'inline' };
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
