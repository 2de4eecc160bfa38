import { parseCorefile } from '../../../corefile/parse.ts';
import { frameOf } from '../../../integration/blocks.ts';
import { passesOtherTypes } from '../../../render/mode.ts';
import { renderRules, type RenderMode } from '../../../render/render.ts';
import type { Rule } from '../../../rule.ts';
import { renderingOf } from '../../../testing/rendering.ts';
import { products } from '../../../../../test/real/parts/parts.ts';
import { isRoot } from './corefile.ts';
import type { CoreDnsPart, VolumeFiles } from './site.ts';
import { addresses } from './world.ts';

export const key = 'dynamic.server';

/** As `1.15.0`. */
export function versionOf(part: CoreDnsPart): string {
  return products[part].version.replace('v', '');
}

/** The files of some rules, as the function would render them for this CoreDNS and its Corefile. */
export function rendered(rules: readonly Rule[], mode: RenderMode, part: CoreDnsPart = 'coredns'): VolumeFiles {
  return ({ mountPath: directory }, corefile) => {
    const reading = { configuration: parseCorefile(corefile), wanted: isRoot, unseen: false };
    const frame = frameOf(reading, { clusterDomain: 'cluster.local' });
    const place = { directory, addresses, passesOtherTypes: passesOtherTypes(versionOf(part)), ...frame };
    return renderRules(rules, { ...renderingOf(mode, place), key });
  };
}
