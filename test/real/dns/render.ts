import { parseCorefile } from '../../../functions/coredns-sync/corefile/parse.ts';
import { frameOf } from '../../../functions/coredns-sync/integration/blocks.ts';
import { passesOtherTypes } from '../../../functions/coredns-sync/render/mode.ts';
import { renderRules, type RenderMode } from '../../../functions/coredns-sync/render/render.ts';
import type { Rule } from '../../../functions/coredns-sync/rule.ts';
import { renderingOf } from '../../../functions/coredns-sync/testing/rendering.ts';
import { products } from '../parts.ts';
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
