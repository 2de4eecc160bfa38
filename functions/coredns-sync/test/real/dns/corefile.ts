import { addImportAfter, addImports } from '../../../corefile/import.ts';
import { parseCorefile, type ServerBlock } from '../../../corefile/parse.ts';
import { zonesOf } from '../../../corefile/zone.ts';
import type { Place } from './site.ts';

/** A Corefile as kubeadm writes it, as far as one can run without a cluster; imports are put in as the function does it. */
export function rootBlock(place: Place): string {
  const { port, common, cluster, forward, mountPath } = place;
  const text = withImport(`.:${port} {\n    ${common}\n    ${cluster}\n    ${forward}\n}\n`, place, isRoot);
  const [root] = parseCorefile(text).blocks;
  return addImportAfter(text, new Map(), { close: root?.close }, { pattern: `${mountPath}/*.blocks` });
}

/** The text after our edit, in the chosen blocks. */
export function withImport(text: string, { mountPath }: Place, wanted: (block: ServerBlock) => boolean): string {
  const own = { pattern: `${mountPath}/*.server`, paths: [`${mountPath}/dynamic.server`], position: 'first' } as const;
  return addImports(text, new Map(), wanted, own);
}

export function isRoot(block: ServerBlock): boolean {
  return zonesOf(block).some(({ zone }) => zone === '');
}
