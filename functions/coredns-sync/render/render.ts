import { renderZoneBlocks, type BlockFrame } from './blocks.ts';
import { renderHosts } from './hosts.ts';
import { groupRules, patternOf } from './pattern.ts';
import { renderTemplates } from './template.ts';
import { renderZone } from './zone.ts';
import { inOrder, type Rule } from '../rule.ts';

/** How rules become CoreDNS configuration. */
export const renderModes = ['exact', 'grouped', 'template', 'hosts', 'zone', 'zoneblocks'] as const;
export type RenderMode = (typeof renderModes)[number];

/** A mode with all that it must know of CoreDNS. */
export type Rendering =
  { readonly mode: 'exact' | 'grouped' | 'template' } | HostsRendering | ZoneRendering | ZoneBlocksRendering;

/** Where CoreDNS finds the files of the rules. */
interface InDirectory {
  readonly directory: string;
}

export interface HostsRendering extends InDirectory {
  readonly mode: 'hosts';
  /** By target. Hosts of other targets are answered by templates. */
  readonly addresses: Readonly<Record<string, readonly string[]>>;
  /** CoreDNS can pass on questions for anything but addresses. */
  readonly passesOtherTypes: boolean;
}

export interface ZoneRendering extends InDirectory {
  readonly mode: 'zone';
}

export interface ZoneBlocksRendering {
  readonly mode: 'zoneblocks';
  readonly frame: BlockFrame;
}

/** Part of what a text's hash stands for: an older renderer leaves the work of a newer one alone. */
export const rendererVersion = 1;

/** `key`: of the text in its ConfigMap, and so the name of the file that CoreDNS imports. */
export type RenderOptions = Rendering & { readonly key: string };

/** The keys of one ConfigMap with their texts: what CoreDNS imports, and the data that it refers to. */
export type Files = Readonly<Record<string, string>>;

/** What files may stand beside the imported one, by their extension. */
export const dataExtensions = ['hosts', 'zone', 'blocks'] as const;
export type DataExtension = (typeof dataExtensions)[number];

/** A rendering: lines among the directives of a server block, and files beside them. */
export interface Rendered {
  readonly lines: readonly string[];
  readonly data: Partial<Readonly<Record<DataExtension, readonly string[]>>>;
}

/** Lines of constant number, since CoreDNS reloads when a line moves. No time, no count: equal rules give equal bytes. */
export const header = [
  'Kept by coredns-sync (kube-reflex.dev): hosts of this cluster and where they lead.',
  'Edits are undone.',
] as const;

/**
 * The files of one shard. Where rules are spread over several shards, all wildcards must be in the one that CoreDNS imports
 * last (`shardKey` 0), since the first rule that matches wins.
 */
export function renderRules(rules: readonly Rule[], options: RenderOptions): Files {
  const { lines, data } = render(rules, options);
  const beside = dataExtensions.flatMap((extension) => {
    const found = data[extension];
    return found === undefined ? [] : [[dataKey(options.key, extension), found, commentOf[extension]] as const];
  });
  return Object.fromEntries(
    [[options.key, lines, '#'] as const, ...beside].map(([key, body, comment]) => [
      key,
      [...header.map((line) => `${comment} ${line}`), ...body].map((line) => `${line}\n`).join(''),
    ]),
  );
}

const commentOf: Readonly<Record<DataExtension, string>> = { hosts: '#', zone: ';', blocks: '#' };

/** `dynamic.server`, `dynamic-1.server`, …: since `-` sorts before `.`, shard 0 is imported last. */
export function shardKey(key: string, shard: number): string {
  const dot = key.lastIndexOf('.');
  const [stem, extension] = dot < 0 ? [key, ''] : [key.slice(0, dot), key.slice(dot)];
  return shard === 0 ? key : `${stem}-${shard}${extension}`;
}

/** `dynamic.hosts` beside `dynamic.server`: no glob that imports the one matches the other. */
export function dataKey(key: string, extension: DataExtension | 'claims'): string {
  return `${key.replace(/\.[^.]*$/, '')}.${extension}`;
}

function render(rules: readonly Rule[], options: RenderOptions): Rendered {
  switch (options.mode) {
    case 'exact':
      return { lines: rules.toSorted(inOrder).map(renderExact), data: {} };
    case 'grouped':
      return { lines: groupRules(rules).map(({ pattern, target }) => renderRegex(pattern, target)), data: {} };
    case 'template':
      return { lines: renderTemplates(rules), data: {} };
    case 'hosts':
      return renderHosts(rules, options, `${options.directory}/${dataKey(options.key, 'hosts')}`);
    case 'zone':
      return renderZone(rules, `${options.directory}/${dataKey(options.key, 'zone')}`);
    case 'zoneblocks':
      return renderZoneBlocks(rules, options.frame);
  }
}

function renderExact(rule: Rule): string {
  return rule.match === 'exact'
    ? `rewrite name exact ${rule.host} ${rule.target}`
    : renderRegex(patternOf(rule), rule.target);
}

function renderRegex(pattern: string, target: string): string {
  return `rewrite name regex ${pattern} ${target} answer auto`;
}
