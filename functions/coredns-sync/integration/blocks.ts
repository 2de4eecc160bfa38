import { imports } from '../corefile/import.ts';
import type { Directive, ServerBlock } from '../corefile/parse.ts';
import { clusterZonesOf, zonesOf } from '../corefile/zone.ts';
import { reserved } from '../host.ts';
import { dataKey } from '../render/render.ts';
import type { BlockFrame } from '../render/blocks.ts';
import { compareText } from '../../../lib/base/order.ts';
import type { Reading } from './corefile.ts';
import type { DnsObjects, IntegrationOptions, OwnBlocks } from './types.ts';

/** From the write of an import until surely every CoreDNS has read it: a kubelet's minute and a half, then its own reload. */
const settlesAfterMs = 180_000;

/** Words that may be copied from the Corefile: addresses, paths, names, numbers. Nothing that means something to a parser. */
const plainWord = /^[-_.:/[\]a-zA-Z0-9]+$/;

/** `<directory>/*.blocks`, imported beside the blocks of the Corefile. */
export function blocksPattern({ mountPath, rulesKey }: IntegrationOptions): string {
  return `${mountPath}/*${dataKey(rulesKey, 'blocks').replace(/^.*(?=\.)/, '')}`;
}

/** Undefined where the Corefile does not import blocks of ours, or where they would have nobody to pass other questions to. */
export function observeBlocks(
  reading: Reading,
  { last, at }: DnsObjects,
  options: IntegrationOptions,
): OwnBlocks | undefined {
  const frame = options.renderMode === 'zoneblocks' ? frameOf(reading, options) : undefined;
  if (frame === undefined || at === undefined || !importsBlocks(reading, options)) {
    return undefined;
  }
  const since = last?.blocks?.since ?? at.toISOString();
  return { frame, since, settled: at.getTime() - Date.parse(since) >= settlesAfterMs };
}

export function importsBlocks({ configuration }: Pick<Reading, 'configuration'>, options: IntegrationOptions): boolean {
  return imports(configuration, { pattern: blocksPattern(options), paths: [] });
}

/** The block beside which our import stands: that of the root, in the Corefile itself, with braces. */
export function rootBlockOf({
  configuration,
  wanted,
}: Pick<Reading, 'configuration' | 'wanted'>): ServerBlock | undefined {
  return configuration.blocks.find(
    (block) => wanted(block) && block.close !== undefined && zonesOf(block).some(({ zone }) => zone === ''),
  );
}

/** Undefined also where a file that nobody showed us may have blocks for the same zones. */
export function frameOf(
  reading: Pick<Reading, 'configuration' | 'wanted' | 'unseen'>,
  { clusterDomain }: Pick<IntegrationOptions, 'clusterDomain'>,
): BlockFrame | undefined {
  const root = rootBlockOf(reading);
  const lines = root === undefined ? undefined : sharedLines(root);
  if (root === undefined || lines === undefined || reading.unseen) {
    return undefined;
  }
  const key = root.keys.find((each) => zonesOf({ ...root, keys: [each] }).some(({ zone }) => zone === ''));
  const port = zonesOf(root).find(({ zone }) => zone === '')?.port;
  const taken = reading.configuration.blocks.flatMap(zonesOf).filter((each) => each.port === port && each.zone !== '');
  return {
    port: /:\d+$/.exec(key?.text ?? '')?.[0] ?? '',
    lines,
    taken: distinct(taken.map(({ zone }) => zone)),
    inside: distinct([clusterDomain, ...reserved, ...clusterZonesOf(root)]),
  };
}

function distinct(zones: readonly string[]): readonly string[] {
  return [...new Set(zones)].sort(compareText);
}

/** Where the block listens, and whom it asks; undefined when it asks nobody for everything, or by more than plain words. */
function sharedLines({ directives }: ServerBlock): readonly string[] | undefined {
  const forward = directives.find(({ name, words }) => name.text === 'forward' && words[0] === '.');
  const binds = directives.filter(({ name }) => name.text === 'bind');
  const copies = forward === undefined ? [undefined] : [...binds, forward].map(copyOf);
  return copies.some((copy) => copy === undefined) ? undefined : copies.flatMap((copy) => copy ?? []);
}

/** The lines of a directive; undefined when they hold anything but plain words. */
function copyOf({ name, words, rest }: Directive): readonly string[] | undefined {
  const options = rest.slice(words.length).filter(({ text }) => text !== '}');
  const lines = Map.groupBy(options, ({ line }) => line);
  const isPlain = [...words.filter((word) => word !== '{'), ...options.map(({ text }) => text)].every((word) =>
    plainWord.test(word),
  );
  if (!isPlain) {
    return undefined;
  }
  const inner = [...lines.values()].map((tokens) => `    ${tokens.map(({ text }) => text).join(' ')}`);
  const opens = words.includes('{');
  return [[name.text, ...words].join(' '), ...inner, ...(opens ? ['}'] : [])];
}
